import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "@brand-records/errors";
import type { Registry } from "@brand-records/telemetry";
import type { Request, RequestHandler, Response } from "express";
import { BodyBudget, GrowingBuffer, type SenderKind } from "./body-budget.ts";
import { contextOf } from "./request-context.ts";

const BODY_BYTES_MAX = 64 * 1024;
/** The largest valid plan has 55,480 characters. An escaped astral one takes 12 bytes: 665,760 bytes and the JSON around them. */
const JSON_BYTES_MAX = 768 * 1024;
const CONTINUE = /^100-continue$/i;
const UTF_8 = new TextDecoder("utf-8", { fatal: true });
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?;?$/i;

/** Bounds the memory of bodies while they are read, and the bytes received after a refusal. */
export function boundBodies(metrics: Registry): RequestHandler {
  const budget = new BodyBudget(metrics);
  return (request, response, next) => {
    response.locals["bodies"] = budget;
    if (mayBeLarge(request)) closeIfUnread(request, response);
    next();
  };
}

/**
 * Closes the connection after the response unless the whole body was read before. Node reads and drops the rest of a small body;
 * of a large one it would read on without a bound (300 MB in 0.3 s, without a key).
 */
function closeIfUnread(request: IncomingMessage, response: ServerResponse): void {
  const { shouldKeepAlive } = response;
  response.shouldKeepAlive = false;
  request.once("end", () => {
    response.shouldKeepAlive = shouldKeepAlive;
  });
}

/**
 * Reads a JSON body of an admitted caller. Compressed bodies are refused: no valid body is large. The last of repeated
 * members counts, as JSON.parse has it.
 *
 * @throws AppError `unsupported_media_type`, `payload_too_large`, `invalid_json`; `invalid_request` or `request_timeout`
 *   if it does not arrive whole; `unavailable` if too many bodies are being read at the same time
 */
export async function readJsonBody(request: Request, response: Response): Promise<unknown> {
  const { "content-type": type = "", "content-encoding": encoding = "identity" } = request.headers;
  if (!JSON_TYPE.test(type)) throw new AppError("unsupported_media_type", "Send JSON in UTF-8, with Content-Type: application/json.");
  if (encoding !== "identity") throw new AppError("unsupported_media_type", "Send the body as it is, without a Content-Encoding.");
  return withBody(request, response, "brand", contextOf(response).brandId ?? "", async (bytes) => parseJson(bytes));
}

/**
 * Reads a body whole, and holds its part of the budget until `use` ends.
 *
 * @throws AppError `payload_too_large`; `invalid_request` or `request_timeout` if it does not arrive whole; `unavailable` or, of a network,
 *   `rate_limited` if too many bodies are being read at the same time; and what `use` throws
 */
export async function withBody<T>(
  request: Request,
  response: Response,
  kind: SenderKind,
  sender: string,
  use: (bytes: Buffer) => Promise<T>,
): Promise<T> {
  const reservation = (response.locals["bodies"] as BodyBudget).open(kind, sender, (error) => breakBody(request, error));
  const body = new GrowingBuffer(JSON_BYTES_MAX);
  try {
    await inClientsTime(response, () => receiveBody(request, response, JSON_BYTES_MAX, (chunk) => body.append(chunk, reservation.add)));
    reservation.complete();
    return await use(body.bytes());
  } finally {
    reservation.release();
  }
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(UTF_8.decode(bytes));
  } catch (error) {
    // The error's message quotes the body: it must not reach a response or a log.
    throw new AppError("invalid_json", error instanceof SyntaxError ? "The body is not valid JSON." : "The body is not UTF-8.");
  }
}

/** Whether the request announces a body, even an empty chunked one. */
export const announcesBody = (request: IncomingMessage): boolean =>
  request.headers["transfer-encoding"] !== undefined || announcedBytes(request) > 0;

/** Serves operations without a body. Ignores a small one, which some clients always send, and reads a large one to its bound. */
export async function ignoreBody(request: Request, response: Response): Promise<void> {
  if (mayBeLarge(request)) await inClientsTime(response, () => receiveBody(request, response, BODY_BYTES_MAX, () => {}));
}

/** Receives what a client sends: the time that it takes does not shorten the time to serve it. */
async function inClientsTime(response: Response, receive: () => Promise<void>): Promise<void> {
  const began = Date.now();
  await receive();
  contextOf(response).deadline += Date.now() - began;
}

const broken = new WeakMap<IncomingMessage, AppError>();
const readers = new WeakMap<IncomingMessage, (error: AppError) => void>();

/** Fails the current and any later reader of this body: the rest will not arrive. */
export function breakBody(request: IncomingMessage, error: AppError): void {
  broken.set(request, error);
  readers.get(request)?.(error);
}

/**
 * Passes each chunk of a body to `take`. Uses events: an iterator costs a promise per chunk. After a failure nothing more
 * is read, and the connection closes with the response.
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
    // The client disconnected while its key was looked up: no event will follow.
    if (request.destroyed) return fail(cutShort());
    readers.set(request, fail);
    if (announcedBytes(request) > bytesMax) return fail(tooLarge(bytesMax));
    // A client that waits for 100 Continue sends the body only now.
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

/** A body without a Content-Length has an unknown size. */
const mayBeLarge = (request: IncomingMessage): boolean =>
  request.headers["transfer-encoding"] !== undefined || announcedBytes(request) > BODY_BYTES_MAX;

const tooLarge = (bytesMax: number): AppError => new AppError("payload_too_large", `The body is larger than ${bytesMax / 1024} KiB.`);

const cutShort = (cause?: Error): AppError => new AppError("invalid_request", "The body ended before it was complete.", { cause });
