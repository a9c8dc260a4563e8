import { fileURLToPath } from "node:url";
import { ConfigError } from "@brand-records/config";
import type { Lifecycle } from "@brand-records/lifecycle";
import { isLoopback, readMutualTls } from "@brand-records/rpc";
import { openMetrics, startAdminServer, type Logger } from "@brand-records/telemetry";
import type { ConsoleConfig } from "./config.ts";
import { createApp } from "./http/app.ts";
import { loadWebFiles } from "./http/web-files.ts";
import { startHttpServer } from "./http/server.ts";
import { connectServices } from "./services.ts";

/** What console/web/build.js writes. */
const WEB_FILES = fileURLToPath(new URL("../../web/dist/", import.meta.url));

/** Starts the console and returns the ports it listens on. It starts even if its services are unavailable. */
export async function startConsole(config: ConsoleConfig, life: Lifecycle, log: Logger): Promise<{ port: number; admin_port: number }> {
  const tls = readMutualTls(config);
  if (tls === undefined && !isLoopback(config.HOST)) {
    throw new ConfigError([`HOST: ${config.HOST} is reachable from other hosts and needs RPC_TLS_CERT, RPC_TLS_KEY and RPC_TLS_CA`]);
  }
  const metrics = openMetrics("console");
  const admin = life.own(
    "admin server",
    await startAdminServer({
      host: config.ADMIN_HOST,
      port: config.ADMIN_PORT,
      metrics,
      notReady: () => (life.isReady ? [] : ["process"]),
    }),
  );
  const services = life.own("rpc clients", connectServices(config));
  const app = createApp({ config, services, web: await loadWebFiles(WEB_FILES), log, metrics, isStopping: () => !life.isReady });
  const http = life.own("http server", await startHttpServer(app, { host: config.HOST, port: config.PORT, tls }));
  return { port: http.port, admin_port: admin.port };
}
