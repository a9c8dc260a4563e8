import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Express } from "express";
import { handleBrokenRequests, type BrokenRequestOptions } from "./broken-requests.ts";
import { closeLingering } from "./lingering-close.ts";
import { RequestQueues } from "./request-queue.ts";

const HEADERS_BYTES_MAX = 32 * 1024;
/** Longer than the idle timeouts of common balancers (60 s), so that the balancer closes first. */
const KEEP_ALIVE_MS = 65_000;
/** Closes a connection on which no byte moves for this long. */
const IDLE_MS = 120_000;
/** A stop first waits this long at most for clients to send a next request: its response carries `Connection: close`. */
const NEXT_REQUEST_MS = 1_000;
/** Then requests in flight get this long before their connections are closed. */
const DRAIN_MS = 10_000;

export interface HttpServerOptions extends BrokenRequestOptions {
  readonly host: string;
  readonly port: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
}

export interface HttpServer {
  readonly port: number;
  /** Serves the requests in flight, then closes. */
  stop(): Promise<void>;
}

/** Listens on the public port, with bounds on headers and on slow clients. Bytes that are not HTTP get a JSON response too. */
export async function startHttpServer(app: Express, options: HttpServerOptions): Promise<HttpServer> {
  const queues = new RequestQueues(app);
  const server = createServer(
    {
      maxHeaderSize: HEADERS_BYTES_MAX,
      headersTimeout: options.headersTimeoutMs,
      requestTimeout: Math.max(options.requestTimeoutMs, options.headersTimeoutMs),
      connectionsCheckingInterval: Math.min(1_000, options.headersTimeoutMs),
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Off: `requireHost` checks the header and more, and Node's own 400 has no body.
      requireHostHeader: false,
    },
    queues.handle,
  );
  server.timeout = IDLE_MS;
  // A client that ends its side after the request still gets the response. Node's types lack the property.
  Object.assign(server, { httpAllowHalfOpen: true });
  // Node would refuse an Expect header other than 100-continue with an empty 417. Such a header is ignored.
  server.on("checkExpectation", queues.handle);
  // The body's reader sends 100 Continue, so a client that is refused before sends no body.
  server.on("checkContinue", queues.handle);
  server.on("connection", guard);
  handleBrokenRequests(server, queues, options);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return { port: (server.address() as AddressInfo).port, stop: () => drain(server) };
}

/** Handles a connection's errors and timeouts, even after Node has removed its own listeners, as it does before the event `connect`. */
function guard(socket: Socket): void {
  // Without a listener, one client's reset ends the process.
  socket.on("error", () => {});
  socket.on("timeout", () => socket.destroy());
  // Node calls this function after the connection's last response.
  socket.destroySoon = () => closeLingering(socket);
}

/** The app already sends `Connection: close`, so that connections end after a response and not during a request. */
async function drain(server: Server): Promise<void> {
  const waitUntil = Date.now() + NEXT_REQUEST_MS;
  while (Date.now() < waitUntil && (await openConnections(server)) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await new Promise<void>((resolve) => {
    const deadline = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    server.close(() => {
      clearTimeout(deadline);
      resolve();
    });
  });
}

function openConnections(server: Server): Promise<number> {
  return new Promise((resolve, reject) => server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))));
}
