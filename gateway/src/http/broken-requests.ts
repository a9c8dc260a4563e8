import { randomUUID } from "node:crypto";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { AppError } from "@brand-records/errors";
import { breakBody } from "./body.ts";
import { apiForm, errorHeaders } from "./errors.ts";
import { rpcErrorForm } from "./mcp/endpoint.ts";
import type { ErrorForm } from "./request-context.ts";
import type { RequestQueues } from "./request-queue.ts";

const BROKEN: Partial<Record<string, AppError>> = {
  HPE_HEADER_OVERFLOW: new AppError("headers_too_large", "The headers are larger than 32 KiB."),
  ERR_HTTP_REQUEST_TIMEOUT: new AppError("request_timeout", "The request did not arrive in time."),
};
const NOT_HTTP = new AppError("invalid_request", "This is not a valid HTTP request.");
const brokenBy = ({ code = "" }: NodeJS.ErrnoException): AppError => BROKEN[code] ?? NOT_HTTP;
const NOT_A_PROXY = new AppError("method_not_allowed", "This server is not a proxy: CONNECT is not supported.");

export interface BrokenRequestOptions {
  /** Headers of the responses to bytes that are no request. */
  readonly brokenRequestHeaders: Readonly<Record<string, string>>;
  /** Address of the page about errors. */
  readonly errorDocs: string;
  /** Called with the error sent for bytes that were not a valid request or arrived too late. */
  onBrokenRequest(error: AppError): void;
}

/**
 * Responds to bytes that never become a request Express could see, and closes the connection. Behind requests that still wait
 * for their responses such bytes get none: those requests are served, the last with `Connection: close`.
 */
export function handleBrokenRequests(
  server: Server,
  queues: RequestQueues,
  { brokenRequestHeaders, errorDocs, onBrokenRequest }: BrokenRequestOptions,
): void {
  const send = (socket: Socket, error: AppError, form: ErrorForm = apiForm): void => {
    if (!socket.writable) return;
    onBrokenRequest(error);
    const requestId = randomUUID();
    socket.write(rawResponse(error, requestId, form(error, requestId, errorDocs), brokenRequestHeaders));
    closeLingering(socket);
  };
  const broken = new WeakSet<Socket>();
  server.on("clientError", (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, stream) => {
    const socket = stream as Socket;
    // The bytes that follow a broken request raise the event again.
    if (broken.has(socket)) return;
    // The rest of that request may have arrived: nothing is read while others wait. The idle timeout still applies.
    if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && queues.isWaiting(socket)) return;
    broken.add(socket);
    const newest = queues.newest(socket);
    if (error.code === "ECONNRESET") socket.destroy();
    else if (newest === undefined || (newest.closed && newest.req.complete)) send(socket, brokenBy(error), formFor(error.rawPacket));
    // The rest of a body is missing or malformed, and its request already has a response.
    else if (newest.closed) closeLingering(socket);
    else {
      // The response to it is still sent, as the last.
      newest.once("close", () => closeLingering(socket));
      if (newest.headersSent) return;
      newest.setHeader("Connection", "close");
      // Broken within its body: the body's reader fails, and the error handler responds.
      if (!newest.req.complete) breakBody(newest.req, brokenBy(error));
    }
  });
  server.on("connect", (_request, stream) => {
    const socket = stream as Socket;
    const newest = queues.newest(socket);
    if (newest === undefined || newest.closed) send(socket, NOT_A_PROXY);
    else newest.once("close", () => send(socket, NOT_A_PROXY));
  });
}

/** The error form of the path, if the broken packet holds the first line. Headers that are too large arrive in several packets. */
function formFor(packet: Buffer | undefined): ErrorForm | undefined {
  return packet !== undefined && ASSISTANTS_LINE.test(packet.toString("latin1", 0, 64)) ? rpcErrorForm(null) : undefined;
}

const ASSISTANTS_LINE = /^[A-Z]+ \/api\/mcp\/?[ ?]/;

function rawResponse(error: AppError, requestId: string, { status, body }: ReturnType<ErrorForm>, more: Record<string, string>): string {
  const headers = {
    ...more,
    ...errorHeaders(error),
    ...(error === NOT_A_PROXY && { Allow: "GET, HEAD, POST" }),
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    "X-Request-Id": requestId,
    Date: new Date().toUTCString(),
    Connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${error.kind}\r\n${lines.join("")}\r\n${body}`;
}

/** Bytes that are read and dropped after the connection's last response. */
const LINGER_BYTES_MAX = 256 * 1024;
const LINGER_MS = 2_000;

/**
 * Closes a connection whose client may still be sending. Our side ends when everything written has been sent. Until the client
 * ends its side, bytes that arrive are dropped. After 256 KiB nothing more is read; after 2 s the connection is destroyed.
 * An immediate close with unread bytes would be a reset, which can overtake the response.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-9.6
 */
export function closeLingering(socket: Socket): void {
  if (socket.destroyed || socket.writableEnded) return;
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
  // The parser gets nothing more: the bytes that follow belong to no request.
  socket.removeAllListeners("data");
  let bytes = 0;
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES_MAX) socket.pause();
  });
  socket.end();
  socket.resume();
}
