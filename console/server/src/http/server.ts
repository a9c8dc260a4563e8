import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { MutualTls } from "@brand-records/rpc";
import type { Express } from "express";

/** Longer than the gateway keeps an idle connection, so that the gateway closes first and no request meets a closing connection. */
const KEEP_ALIVE_MS = 65_000;
/** Requests in flight get this long before their connections are closed. */
const DRAIN_MS = 10_000;

const LIMITS = { maxHeaderSize: 32 * 1024, headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: KEEP_ALIVE_MS };

export interface HttpServer {
  readonly port: number;
  /** Serves the requests in flight, then closes. */
  stop(): Promise<void>;
}

/** Listens for the gateway or an ingress; with `tls`, only for clients with a certificate of the same authority. */
export async function startHttpServer(
  app: Express,
  { host, port, tls }: { readonly host: string; readonly port: number; readonly tls: MutualTls | undefined },
): Promise<HttpServer> {
  const server = tls === undefined ? createServer(LIMITS, app) : createTlsServer({ ...LIMITS, ...tls, requestCert: true }, app);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise<void>((resolve) => {
        const deadline = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
        server.close(() => {
          clearTimeout(deadline);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}
