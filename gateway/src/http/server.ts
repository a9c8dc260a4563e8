import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { AppError } from "@brand-records/errors";
import type { Express } from "express";
import { answerBrokenRequests } from "./broken-requests.ts";
import { closeLingering } from "./lingering-close.ts";
import { RequestQueues } from "./request-queue.ts";

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
  const queues = new RequestQueues(app);
  const server = createServer(
    {
      maxHeaderSize: HEADERS_BYTES_MAX,
      headersTimeout: options.headersTimeoutMs,
      requestTimeout: Math.max(options.requestTimeoutMs, options.headersTimeoutMs),
      connectionsCheckingInterval: Math.min(1_000, options.headersTimeoutMs),
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Node's own answer has no body; `requireHost` looks at more.
      requireHostHeader: false,
    },
    queues.handle,
  );
  server.timeout = IDLE_MS;
  // A client that ends its side after the request still gets the answer; the types do not know the property.
  Object.assign(server, { httpAllowHalfOpen: true });
  // An Expect header of any other kind is ignored rather than refused with an empty 417.
  server.on("checkExpectation", queues.handle);
  // The body's reader sends 100 Continue; a client that is refused has sent nothing in vain.
  server.on("checkContinue", queues.handle);
  server.on("connection", guard);
  answerBrokenRequests(server, queues, options.onBrokenRequest);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return { port: (server.address() as AddressInfo).port, stop: () => drain(server) };
}

/** What holds for a connection even when Node has removed its own listeners, as it does before the event `connect`. */
function guard(socket: Socket): void {
  // Without a listener the reset of one client ends the process.
  socket.on("error", () => {});
  socket.on("timeout", () => socket.destroy());
  // Node calls it after an answer that is the connection's last.
  socket.destroySoon = () => closeLingering(socket);
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
