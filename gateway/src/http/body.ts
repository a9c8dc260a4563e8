import { AppError } from "@brand-records/errors";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Request, Response } from "express";
import { contextOf } from "./request-context.ts";

const BODY_BYTES_MAX = 64 * 1024;
const CONTINUE = /^100-continue$/i;
const UTF_8 = new TextDecoder("utf-8", { fatal: true });
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?;?$/i;

/**
 * What a JSON body holds, read only once a caller has been admitted. Compressed bodies are not taken: nothing that may be
 * sent here is large. Of a repeated member the last counts, as everywhere in JavaScript.
 *
 * @throws AppError `unsupported_media_type`, `payload_too_large`, `invalid_json`; `invalid_request` or `request_timeout`
 *   if it does not come whole
 */
export async function readJsonBody(request: Request, response: Response): Promise<unknown> {
  const { "content-type": type = "", "content-encoding": encoding = "identity" } = request.headers;
  if (!JSON_TYPE.test(type)) throw new AppError("unsupported_media_type", "Send JSON in UTF-8, with Content-Type: application/json.");
  if (encoding !== "identity") throw new AppError("unsupported_media_type", "Send the body as it is, without a Content-Encoding.");
  const began = Date.now();
  const bytes = await readBody(request, response);
  // How long its client took to send it is not taken from the time to answer it.
  contextOf(response).deadline += Date.now() - began;
  try {
    return JSON.parse(UTF_8.decode(bytes));
  } catch (error) {
    // What it says holds parts of the body: it is neither answered nor kept.
    throw new AppError("invalid_json", error instanceof SyntaxError ? "The body is not valid JSON." : "The body is not UTF-8.");
  }
}

/** Reads what reading takes: nothing. A small body is ignored, as clients that always send one expect. */
export async function ignoreBody(request: IncomingMessage, response: ServerResponse): Promise<void> {
  // One that does not say how long it is going to be has to be counted.
  if (request.headers["transfer-encoding"] !== undefined || announcesTooMuch(request)) await readBody(request, response);
}

const broken = new WeakMap<IncomingMessage, AppError>();
const readers = new WeakMap<IncomingMessage, (error: AppError) => void>();

/** Tells whoever reads this body, now or later, that the rest of it will not come. */
export function breakBody(request: IncomingMessage, error: AppError): void {
  broken.set(request, error);
  readers.get(request)?.(error);
}

/** Events rather than an iterator, which costs a promise a chunk. */
function readBody(request: IncomingMessage, response: ServerResponse): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const already = broken.get(request);
    if (already !== undefined) return reject(already);
    // Its client left while its key was looked up: no event is to come.
    if (request.destroyed) return reject(cutShort());
    readers.set(request, reject);
    if (announcesTooMuch(request)) return reject(tooLarge());
    // Only now is a client that asked first told to send.
    if (CONTINUE.test(request.headers.expect ?? "")) response.writeContinue();
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > BODY_BYTES_MAX) {
        // What is still to come is let pass, so that the client gets to reading its answer.
        chunks.length = 0;
        reject(tooLarge());
      } else chunks.push(chunk);
    });
    request.on("end", () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    request.on("error", (error) => reject(cutShort(error)));
    request.on("close", () => {
      if (!request.complete) reject(cutShort());
    });
  });
}

const announcesTooMuch = ({ headers }: IncomingMessage): boolean => Number(headers["content-length"] ?? 0) > BODY_BYTES_MAX;

const tooLarge = (): AppError => new AppError("payload_too_large", "The body is larger than 64 KiB.");

const cutShort = (cause?: Error): AppError => new AppError("invalid_request", "The body ended before it was whole.", { cause });
