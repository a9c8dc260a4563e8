import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { AppError } from "@brand-records/errors";
import type { Express } from "express";
import { randomUUID } from "node:crypto";
import { breakBody } from "./body.ts";
import { apiForm, errorHeaders } from "./errors.ts";
import { rpcErrorForm } from "./mcp/endpoint.ts";
import type { ErrorForm } from "./request-context.ts";

const HEADERS_BYTES_MAX = 32 * 1024;
/** Longer than the idle time-outs of common balancers (60 s), so that it is they who close. */
const KEEP_ALIVE_MS = 65_000;
/** Nobody sends or reads a byte for this long. */
const IDLE_MS = 120_000;
/** While stopping, clients with open connections learn from their next answer that it is the last. */
const LINGER_MS = 1_000;
const DRAIN_MS = 10_000;

export interface HttpServerOptions {
  readonly host: string;
  readonly port: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** Bytes came that were no request, or not in time; they have been answered with this error. */
  onBrokenRequest(error: AppError): void;
}

export interface HttpServer {
  readonly port: number;
  /** Answers what has been asked, then closes. */
  stop(): Promise<void>;
}

/** The public port, with bounds on headers and on slow clients. What is no HTTP at all gets a JSON answer too. */
export async function startHttpServer(app: Express, options: HttpServerOptions): Promise<HttpServer> {
  const server = createServer(
    {
      maxHeaderSize: HEADERS_BYTES_MAX,
      headersTimeout: options.headersTimeoutMs,
      requestTimeout: Math.max(options.requestTimeoutMs, options.headersTimeoutMs),
      connectionsCheckingInterval: Math.min(1_000, options.headersTimeoutMs),
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Without a Host header Node would answer by itself, without a body.
      requireHostHeader: false,
    },
    app,
  );
  server.timeout = IDLE_MS;
  // An Expect header of any other kind is ignored rather than refused with an empty 417.
  server.on("checkExpectation", app);
  // Whoever reads the body tells a client that waits for it to go on; one that is refused has sent nothing in vain.
  server.on("checkContinue", app);
  answerBrokenRequests(server, options.onBrokenRequest);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return { port: (server.address() as AddressInfo).port, stop: () => drain(server) };
}

const BROKEN: Partial<Record<string, AppError>> = {
  HPE_HEADER_OVERFLOW: new AppError("headers_too_large", "The headers are larger than 32 KiB."),
  ERR_HTTP_REQUEST_TIMEOUT: new AppError("request_timeout", "The request did not arrive in time."),
};
const NO_HTTP = new AppError("invalid_request", "This is not a valid HTTP request.");
const brokenBy = ({ code = "" }: NodeJS.ErrnoException): AppError => BROKEN[code] ?? NO_HTTP;
const NO_PROXY = new AppError("method_not_allowed", "This is no proxy: there is no CONNECT here.");

/** Answers what never becomes a request that Express could see. `told` hears of each. */
function answerBrokenRequests(server: Server, told: (error: AppError) => void): void {
  const latest = new WeakMap<Socket, ServerResponse>();
  const answered = new WeakSet<Socket>();
  const note = ({ socket }: IncomingMessage, response: ServerResponse): void => void latest.set(socket, response);
  for (const event of ["request", "checkContinue", "checkExpectation"] as const) server.on(event, note);

  const answer = (socket: Socket, error: AppError, form: ErrorForm = apiForm): void => {
    // More of a broken request keeps coming, and keeps being broken.
    if (answered.has(socket)) return;
    answered.add(socket);
    told(error);
    socket.end(rawAnswer(error, form));
    // Closed at once, unread bytes would turn into a reset that overtakes the answer.
    setTimeout(() => socket.destroy(), 1_000).unref();
  };
  server.on("clientError", (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, stream) => {
    const socket = stream as Socket;
    const response = latest.get(socket);
    if (error.code === "ECONNRESET" || !socket.writable) socket.destroy();
    // What is broken comes after a request that is being answered: that answer still leaves, as the last.
    else if (response?.writableEnded === false && !response.headersSent) {
      response.setHeader("Connection", "close");
      // Broken within the body: whoever reads it answers.
      if (!response.req.complete) breakBody(response.req, brokenBy(error));
    }
    // The rest of a request that has its answer already did not come, or not in order: nobody waits for more.
    else if (response?.req.complete === false) socket.destroy();
    else answer(socket, brokenBy(error), formFor(error.rawPacket));
  });
  server.on("connect", (_request, stream) => answer(stream as Socket, NO_PROXY));
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
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    "X-Request-Id": requestId,
    Date: new Date().toUTCString(),
    Connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${error.kind}\r\n${lines.join("")}\r\n${body}`;
}

/** The app says `Connection: close` by now; connections leave with their answers instead of breaking under a request. */
async function drain(server: Server): Promise<void> {
  const lingerUntil = Date.now() + LINGER_MS;
  while (Date.now() < lingerUntil && (await openConnections(server)) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await new Promise<void>((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
  });
}

function openConnections(server: Server): Promise<number> {
  return new Promise((resolve, reject) => server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))));
}
