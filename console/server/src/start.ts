import { fileURLToPath } from "node:url";
import { accountsClock } from "@brand-records/edge";
import type { Lifecycle } from "@brand-records/lifecycle";
import { Certificates, reportCertificates, requireLoopback } from "@brand-records/rpc";
import { openMetrics, reportClock, startAdminServer, startTracing, type DegradedCheck, type Logger } from "@brand-records/telemetry";
import type { ConsoleConfig } from "./config.ts";
import { createApp } from "./http/app.ts";
import { loadWebFiles } from "./http/web-files.ts";
import { startHttpServer } from "./http/server.ts";
import { connectServices } from "./services.ts";

/** What console/web/build.js writes. */
const WEB_FILES = fileURLToPath(new URL("../../web/dist/", import.meta.url));

/** Starts the console and returns the ports it listens on. It starts even if its services are unavailable. */
export async function startConsole(config: ConsoleConfig, life: Lifecycle, log: Logger): Promise<{ port: number; admin_port: number }> {
  const certificates = Certificates.of(config);
  if (certificates === undefined) requireLoopback("HOST", config.HOST);
  else life.own("http certificates", { stop: () => certificates.release() });
  const metrics = openMetrics("console");
  // Owned first, stopped last: its spans include those of the stop.
  life.own("tracing", await startTracing({ service: "console", config, log, metrics }));
  life.own("certificates", reportCertificates(config, metrics, log));
  const degraded: DegradedCheck[] = [];
  const admin = life.own(
    "admin server",
    await startAdminServer({
      host: config.ADMIN_HOST,
      port: config.ADMIN_PORT,
      metrics,
      notReady: () => (life.isReady ? [] : ["process"]),
      degraded,
    }),
  );
  const services = life.own("rpc clients", connectServices(config, metrics, log));
  degraded.push(reportClock(life.own("clock", accountsClock(services.usage)), metrics));
  const app = createApp({ config, services, web: await loadWebFiles(WEB_FILES), log, metrics, isStopping: () => !life.isReady });
  await services.connected();
  const http = life.own(
    "http server",
    await startHttpServer(app, { host: config.HOST, port: config.PORT, publicUrl: config.PUBLIC_URL, certificates, log }),
  );
  return { port: http.port, admin_port: admin.port };
}
