import { randomUUID } from "node:crypto";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { AppError } from "@brand-records/errors";
import { breakBody } from "./body.ts";
import { apiForm, errorHeaders } from "./errors.ts";
import { closeLingering } from "./lingering-close.ts";
import { rpcErrorForm } from "./mcp/endpoint.ts";
import type { ErrorForm } from "./request-context.ts";
import type { RequestQueues } from "./request-queue.ts";

const BROKEN: Partial<Record<string, AppError>> = {
  HPE_HEADER_OVERFLOW: new AppError("headers_too_large", "The headers are larger than 32 KiB."),
  ERR_HTTP_REQUEST_TIMEOUT: new AppError("request_timeout", "The request did not arrive in time."),
};
const NO_HTTP = new AppError("invalid_request", "This is not a valid HTTP request.");
const brokenBy = ({ code = "" }: NodeJS.ErrnoException): AppError => BROKEN[code] ?? NO_HTTP;
const NO_PROXY = new AppError("method_not_allowed", "This is no proxy: there is no CONNECT here.");

/**
 * Answers what never becomes a request that Express could see, and closes the connection. Bytes that are no request are not
 * answered if they come behind requests that still wait for their answers: those are answered, the last with `Connection: close`.
 *
 * @param onBroken called with each error answered here
 */
export function answerBrokenRequests(server: Server, queues: RequestQueues, onBroken: (error: AppError) => void): void {
  const answer = (socket: Socket, error: AppError, form: ErrorForm = apiForm): void => {
    if (!socket.writable) return;
    onBroken(error);
    socket.write(rawAnswer(error, form));
    closeLingering(socket);
  };
  const broken = new WeakSet<Socket>();
  server.on("clientError", (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, stream) => {
    const socket = stream as Socket;
    // More of a broken request keeps coming, and keeps being broken.
    if (broken.has(socket)) return;
    // The rest of that request may have come already: nothing is read while others wait. The idle timeout still holds.
    if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && queues.isWaiting(socket)) return;
    broken.add(socket);
    const newest = queues.newest(socket);
    if (error.code === "ECONNRESET") socket.destroy();
    else if (newest === undefined || (newest.closed && newest.req.complete)) answer(socket, brokenBy(error), formFor(error.rawPacket));
    // The rest of a body did not come, or not in order, and its request has an answer already.
    else if (newest.closed) closeLingering(socket);
    else {
      // Its answer still leaves, as the last.
      newest.once("close", () => closeLingering(socket));
      if (newest.headersSent) return;
      newest.setHeader("Connection", "close");
      // Broken within its body: the body's reader answers.
      if (!newest.req.complete) breakBody(newest.req, brokenBy(error));
    }
  });
  server.on("connect", (_request, stream) => {
    const socket = stream as Socket;
    const newest = queues.newest(socket);
    if (newest === undefined || newest.closed) answer(socket, NO_PROXY);
    else newest.once("close", () => answer(socket, NO_PROXY));
  });
}

/** Where the first line is in the packet that broke, the error is written as on its path; headers too large come in several. */
function formFor(packet: Buffer | undefined): ErrorForm | undefined {
  return packet !== undefined && TO_ASSISTANTS.test(packet.toString("latin1", 0, 64)) ? rpcErrorForm(null) : undefined;
}

const TO_ASSISTANTS = /^[A-Z]+ \/api\/mcp[ ?]/;

function rawAnswer(error: AppError, form: ErrorForm): string {
  const requestId = randomUUID();
  const { status, body } = form(error, requestId);
  const headers = {
    ...errorHeaders(error),
    ...(error === NO_PROXY && { Allow: "GET, HEAD, POST" }),
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    "X-Request-Id": requestId,
    Date: new Date().toUTCString(),
    Connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${error.kind}\r\n${lines.join("")}\r\n${body}`;
}
