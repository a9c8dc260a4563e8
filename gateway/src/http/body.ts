import { AppError } from "@brand-records/errors";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Registry } from "@brand-records/telemetry";
import type { Request, RequestHandler, Response } from "express";
import { BodyBudget } from "./body-budget.ts";
import { GrowingBuffer } from "./growing-buffer.ts";
import { contextOf } from "./request-context.ts";

const BODY_BYTES_MAX = 64 * 1024;
/** The largest valid plan has 55,480 characters; escaped, an astral one takes 12 bytes: 665,760 and the JSON around them. */
const JSON_BYTES_MAX = 768 * 1024;
const CONTINUE = /^100-continue$/i;
const UTF_8 = new TextDecoder("utf-8", { fatal: true });
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?;?$/i;

/** Bounds what bodies may take: memory while they are read, and the network after they were refused. */
export function boundBodies(metrics: Registry): RequestHandler {
  const budget = new BodyBudget(metrics);
  return (request, response, next) => {
    response.locals["bodies"] = budget;
    if (mayBeLarge(request)) closeIfUnread(request, response);
    next();
  };
}

/**
 * Makes the answer the connection's last, unless the body is read whole before it. What is left of a small body Node reads
 * and drops; of a large one it would read on without end (300 MB in 0.3 s, without a key).
 */
function closeIfUnread(request: IncomingMessage, response: ServerResponse): void {
  const { shouldKeepAlive } = response;
  response.shouldKeepAlive = false;
  request.once("end", () => {
    response.shouldKeepAlive = shouldKeepAlive;
  });
}

/**
 * The value of a JSON body, read only once a caller has been admitted. Compressed bodies are not taken: nothing that may be
 * sent here is large. Of a repeated member the last counts, as everywhere in JavaScript.
 *
 * @throws AppError `unsupported_media_type`, `payload_too_large`, `invalid_json`; `invalid_request` or `request_timeout`
 *   if it does not come whole; `unavailable` if too many bodies are being read at once
 */
export async function readJsonBody(request: Request, response: Response): Promise<unknown> {
  const { "content-type": type = "", "content-encoding": encoding = "identity" } = request.headers;
  if (!JSON_TYPE.test(type)) throw new AppError("unsupported_media_type", "Send JSON in UTF-8, with Content-Type: application/json.");
  if (encoding !== "identity") throw new AppError("unsupported_media_type", "Send the body as it is, without a Content-Encoding.");
  const context = contextOf(response);
  const began = Date.now();
  const reservation = (response.locals["bodies"] as BodyBudget).open(context.brandId ?? "");
  const body = new GrowingBuffer(JSON_BYTES_MAX);
  try {
    await receiveBody(request, response, JSON_BYTES_MAX, (chunk) => body.append(chunk, reservation.add));
    // How long its client took to send it is not taken from the time to answer it.
    context.deadline += Date.now() - began;
    return parseJson(body.bytes());
  } finally {
    reservation.release();
  }
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(UTF_8.decode(bytes));
  } catch (error) {
    // What it says holds parts of the body: it is neither answered nor kept.
    throw new AppError("invalid_json", error instanceof SyntaxError ? "The body is not valid JSON." : "The body is not UTF-8.");
  }
}

/** Reads what reading takes: nothing. A small body is ignored, as clients that always send one expect. */
export async function ignoreBody(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (mayBeLarge(request)) await receiveBody(request, response, BODY_BYTES_MAX, () => {});
}

const broken = new WeakMap<IncomingMessage, AppError>();
const readers = new WeakMap<IncomingMessage, (error: AppError) => void>();

/** Tells whoever reads this body, now or later, that the rest of it will not come. */
export function breakBody(request: IncomingMessage, error: AppError): void {
  broken.set(request, error);
  readers.get(request)?.(error);
}

/**
 * Passes on the chunks of a body. Events rather than an iterator, which costs a promise a chunk. After a failure nothing more
 * is read, and the connection closes with the answer.
 */
function receiveBody(request: IncomingMessage, response: ServerResponse, bytesMax: number, take: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      response.shouldKeepAlive = false;
      request.removeAllListeners("data");
      request.pause();
      reject(error);
    };
    const already = broken.get(request);
    if (already !== undefined) return fail(already);
    // Its client left while its key was looked up: no event is to come.
    if (request.destroyed) return fail(cutShort());
    readers.set(request, fail);
    if (announcedBytes(request) > bytesMax) return fail(tooLarge(bytesMax));
    // Only now is a client that asked first told to send.
    if (CONTINUE.test(request.headers.expect ?? "")) response.writeContinue();
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      try {
        if (bytes > bytesMax) throw tooLarge(bytesMax);
        take(chunk);
      } catch (error) {
        fail(error);
      }
    });
    request.on("end", () => resolve());
    request.on("error", (error) => fail(cutShort(error)));
    request.on("close", () => {
      if (!request.complete) fail(cutShort());
    });
  });
}

const announcedBytes = ({ headers }: IncomingMessage): number => Number(headers["content-length"] ?? 0);

/** A body without a Content-Length must be counted. */
const mayBeLarge = (request: IncomingMessage): boolean =>
  request.headers["transfer-encoding"] !== undefined || announcedBytes(request) > BODY_BYTES_MAX;

const tooLarge = (bytesMax: number): AppError => new AppError("payload_too_large", `The body is larger than ${bytesMax / 1024} KiB.`);

const cutShort = (cause?: Error): AppError => new AppError("invalid_request", "The body ended before it was whole.", { cause });
