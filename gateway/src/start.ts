import { readPem } from "@brand-records/config";
import { accountsClock, httpsOnly } from "@brand-records/edge";
import { ERROR_KINDS, type AppError } from "@brand-records/errors";
import type { Lifecycle } from "@brand-records/lifecycle";
import { Certificates, reportCertificates, requireLoopback } from "@brand-records/rpc";
import {
  Counter,
  openMetrics,
  startAdminServer,
  startTracing,
  reportClock,
  type DegradedCheck,
  type Logger,
} from "@brand-records/telemetry";
import { Verifier } from "./auth/verifier.ts";
import type { GatewayConfig } from "./config.ts";
import { createApp } from "./http/app.ts";
import type { ConsoleTarget } from "./http/console/forward.ts";
import { ConsoleUpstream } from "./http/console/upstream.ts";
import { errorDocsOf } from "./http/errors.ts";
import { startHttpServer } from "./http/server.ts";
import { openLimiter, type OpenedLimiter } from "./limits/open-limiter.ts";
import { connectServices } from "./services.ts";
import { startUsageRecorder } from "./usage/usage-recorder.ts";

function consoleTarget(config: GatewayConfig, life: Lifecycle): ConsoleTarget | undefined {
  if (config.CONSOLE_ADDRESS === undefined) return undefined;
  const certificates = Certificates.of(config);
  if (certificates === undefined) requireLoopback("CONSOLE_ADDRESS", new URL(`http://${config.CONSOLE_ADDRESS}`).hostname);
  else life.own("console certificates", { stop: () => certificates.release() });
  const upstream = life.own("console connections", new ConsoleUpstream(config.CONSOLE_ADDRESS, certificates));
  return { upstream, publicUrl: config.PUBLIC_URL };
}

/** Starts the gateway and returns the ports it listens on. It starts even if its services are unavailable. */
export async function startGateway(config: GatewayConfig, life: Lifecycle, log: Logger): Promise<{ port: number; admin_port: number }> {
  const metrics = openMetrics("gateway");
  // Owned first, stopped last: its spans include those of the stop.
  life.own("tracing", await startTracing({ service: "gateway", config, log, metrics }));
  life.own("certificates", reportCertificates(config, metrics, log));
  let limiter: OpenedLimiter | undefined;
  const degraded: DegradedCheck[] = [{ dependency: "redis", unavailable: () => (limiter?.isDegraded() === true ? ["redis"] : []) }];
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
  const services = life.own("rpc clients", connectServices(config, metrics));
  const clock = life.own("clock", accountsClock(services.usage));
  degraded.push(reportClock(clock, metrics));
  const redisTlsCa = config.REDIS_TLS_CA === undefined ? undefined : readPem("REDIS_TLS_CA", config.REDIS_TLS_CA);
  limiter = life.own(
    "rate limiter",
    await openLimiter({ redisUrl: config.REDIS_URL, redisTlsCa, commandTimeoutMs: config.REDIS_COMMAND_TIMEOUT_MS, log, metrics }),
  );
  const flushMs = config.USAGE_FLUSH_SECONDS * 1_000;
  const usage = life.own("usage recorder", startUsageRecorder({ accounts: services.usage, clock, flushMs, log, metrics }));

  const app = createApp({
    environment: config.ENVIRONMENT,
    verifier: new Verifier(services.verification),
    limiter,
    tierLimits: { plus: config.RATE_LIMIT_PLUS, pro: config.RATE_LIMIT_PRO, enterprise: config.RATE_LIMIT_ENTERPRISE },
    services,
    usage,
    publicUrl: config.PUBLIC_URL,
    console: consoleTarget(config, life),
    trustProxy: config.TRUST_PROXY,
    allowedOrigins: [new URL(config.PUBLIC_URL).origin, ...config.ALLOWED_ORIGINS],
    requestDeadlineMs: config.REQUEST_DEADLINE_MS,
    log,
    metrics,
    isStopping: () => !life.isReady,
  });
  const brokenRequests = new Counter({
    name: "http_broken_requests_total",
    help: "Bytes that were not a valid HTTP request or arrived too late.",
    labelNames: ["error"],
    registers: [metrics],
  });
  const onBrokenRequest = ({ kind }: AppError): void => {
    brokenRequests.inc({ error: kind });
    log.info({ error: kind, status: ERROR_KINDS[kind].http }, "broken request refused");
  };
  const brokenRequestHeaders = httpsOnly(config.PUBLIC_URL);
  // Balancers give a new process its share of the requests at once. On a node without CPU to spare, those that came first waited 2.7 s
  // for names and TLS.
  await services.connected();
  const http = life.own(
    "http server",
    await startHttpServer(app, {
      host: config.HOST,
      port: config.PORT,
      headersTimeoutMs: config.HEADERS_TIMEOUT_MS,
      requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
      keepAliveMs: config.KEEP_ALIVE_MS,
      brokenRequestHeaders,
      errorDocs: errorDocsOf(config.PUBLIC_URL),
      onBrokenRequest,
    }),
  );
  return { port: http.port, admin_port: admin.port };
}
