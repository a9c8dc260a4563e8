import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "@brand-records/errors";
import type { RequestHandler } from "express";

/** The largest valid plan, with every character escaped, and the JSON around it. */
export const BODY_BYTES_MAX = 768 * 1024;

const UTF_8 = new TextDecoder("utf-8", { fatal: true });
const OTHER_CHARSET = /;[ \t]*charset=(?!"?utf-8"?[ \t]*(?:;|$))/i;

/** Returns the announced length of a body; `bytesMax` for a body without a length. */
const bytesOf = ({ headers }: IncomingMessage, bytesMax: number): number =>
  headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : bytesMax;

/** Whether a body is, or may turn out, larger than this. */
export const mayExceed = (request: IncomingMessage, bytes: number): boolean => bytesOf(request, Number.POSITIVE_INFINITY) > bytes;

/**
 * Closes the connection after the response unless the whole body was read before it. Node reads and drops the rest of a body: that of
 * one without a length has no end, and one that does not arrive occupies the connection until the time-out.
 */
export const closeIfUnread: RequestHandler = (request, response, next) => {
  if (mayExceed(request, 0)) {
    const { shouldKeepAlive } = response;
    response.shouldKeepAlive = false;
    request.once("end", () => {
      response.shouldKeepAlive = shouldKeepAlive;
    });
  }
  next();
};

interface BodyBounds {
  readonly bytesMax: number;
  /** Time for the whole body to arrive. */
  readonly timeoutMs: number;
}

/**
 * Reads a body into one buffer of its announced length: stored separately, chunks of one byte would take 200 bytes each. After a
 * failure nothing more is read, and the connection closes with the response.
 *
 * @throws AppError `unsupported_media_type`, `payload_too_large`; `request_timeout` or `invalid_request` if it does not arrive whole
 */
export async function readBody(request: IncomingMessage, response: ServerResponse, { bytesMax, timeoutMs }: BodyBounds): Promise<Buffer> {
  const { "content-encoding": encoding = "identity", "content-type": type = "" } = request.headers;
  if (encoding !== "identity" || OTHER_CHARSET.test(type)) {
    throw new AppError("unsupported_media_type", "Send JSON in UTF-8, without a Content-Encoding.");
  }
  const bytes = bytesOf(request, bytesMax);
  if (bytes > bytesMax) throw tooLarge();
  if (request.destroyed) throw cutShort();
  const body = Buffer.allocUnsafeSlow(bytes);
  let length = 0;
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => reject(new AppError("request_timeout", "The body did not arrive in time.")), timeoutMs);
      request.on("data", (chunk: Buffer) => {
        if (length + chunk.length > bytes) return reject(tooLarge());
        length += chunk.copy(body, length);
      });
      request.once("end", resolve);
      request.once("error", (error) => reject(cutShort(error)));
      request.once("close", () => reject(cutShort()));
    });
  } catch (error) {
    response.shouldKeepAlive = false;
    request.removeAllListeners("data");
    request.pause();
    throw error;
  } finally {
    clearTimeout(timer);
  }
  return body.subarray(0, length);
}

/** @throws AppError `invalid_json`. The parser's own message quotes the body: it reaches no response and no log. */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return {};
  try {
    return JSON.parse(UTF_8.decode(bytes));
  } catch {
    throw new AppError("invalid_json", "The body is not valid JSON.");
  }
}

const tooLarge = (): AppError => new AppError("payload_too_large", "The body is too large.");
const cutShort = (cause?: Error): AppError => new AppError("invalid_request", "The body ended before it was complete.", { cause });
