import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Requests in flight get this long before their connections are closed. */
const DRAIN_MS = 10_000;

/** Options of node:http and node:https for every edge. */
export const SERVER_OPTIONS = {
  maxHeaderSize: 32 * 1024,
  // Longer than a balancer (60 s) or the gateway keeps an idle connection: it closes first, and no request meets a closing connection.
  // The gateway has a setting in its place.
  keepAliveTimeout: 65_000,
  // The applications require the header: Node's own 400 has neither a body nor headers of ours.
  requireHostHeader: false,
} as const;

export interface HttpServer {
  readonly port: number;
  /** Serves the requests in flight, then closes. */
  stop(): Promise<void>;
}

/**
 * Listens.
 *
 * @returns the port that the system chose if `port` is 0
 * @throws Error if it cannot listen there
 */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  await once(server.listen(port, host), "listening");
  return (server.address() as AddressInfo).port;
}

/** Closes a server once its requests in flight are served, after ten seconds in any case. */
export async function drain(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    const deadline = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    server.close(() => {
      clearTimeout(deadline);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/** A year: browsers forget it no sooner than people come back. */
const SECONDS = 31_536_000;

/**
 * Returns the headers by which browsers call an origin over https only, from the first response on; none for an http origin. Without
 * `includeSubDomains` and `preload`, which would bind the operator's other hosts. Not for localhost, whose ports other programs serve over
 * http: the header is about every port of a host.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6797
 */
export function httpsOnly(publicUrl: string): Readonly<Record<string, string>> {
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol !== "https:" || hostname === "localhost" || hostname.endsWith(".localhost")) return {};
  return { "Strict-Transport-Security": `max-age=${SECONDS}` };
}
