import type { RequestListener, Server } from "node:http";
import type { Socket } from "node:net";
import { promisify } from "node:util";
import { drain, type HttpServer, listen, SERVER_OPTIONS } from "@brand-records/edge";
import { http } from "@brand-records/lifecycle";
import type { Express } from "express";
import { type BrokenRequestOptions, closeLingering, handleBrokenRequests } from "./broken-requests.ts";
import { RequestQueues } from "./request-queue.ts";

/** Closes a connection on which no byte of a request or response moves for this long. */
const IDLE_MS = 120_000;
/** A stop first waits this long at most for clients to send a next request: its response carries `Connection: close`. */
const NEXT_REQUEST_MS = 1_000;

export interface HttpServerOptions extends BrokenRequestOptions {
  readonly host: string;
  readonly port: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** A connection without requests stays open for it, and for one more second, which Node adds. */
  readonly keepAliveMs: number;
}

/** Listens on the public port, with bounds on headers and on slow clients. Bytes that are not HTTP get a JSON response too. */
export async function startHttpServer(app: Express, options: HttpServerOptions): Promise<HttpServer> {
  const queues = new RequestQueues(servingEveryTarget(app));
  const server = http.createServer(
    {
      ...SERVER_OPTIONS,
      keepAliveTimeout: options.keepAliveMs,
      headersTimeout: options.headersTimeoutMs,
      requestTimeout: Math.max(options.requestTimeoutMs, options.headersTimeoutMs),
      connectionsCheckingInterval: Math.min(1_000, options.headersTimeoutMs),
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
  return { port: await listen(server, options.host, options.port), stop: () => stopListening(server) };
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
async function stopListening(server: Server): Promise<void> {
  const waitUntil = Date.now() + NEXT_REQUEST_MS;
  const openConnections = promisify(server.getConnections.bind(server));
  while (Date.now() < waitUntil && (await openConnections()) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await drain(server);
}

/**
 * Serves requests whose target has no path, such as `GET foo://x` and `GET http://[/`, at a path at which nothing exists. Express answers
 * what it finds no path in by itself: in HTML, without a log line, and only when the whole body has arrived.
 */
function servingEveryTarget(serve: RequestListener): RequestListener {
  return (request, response) => {
    const target = request.url ?? "";
    if (!hasPath(target)) request.url = `/${encodeURIComponent(target.toWellFormed())}`;
    serve(request, response);
  };
}

/** Whether it is a path, an absolute URL with one, as proxies send, or the `*` of OPTIONS. With a fragment, two slashes begin a host. */
const hasPath = (target: string): boolean =>
  target === "*" || (target.startsWith("/") ? !/^\/\/.*[#\s]/.test(target) : /^https?:\/\//i.test(target) && URL.canParse(target));
