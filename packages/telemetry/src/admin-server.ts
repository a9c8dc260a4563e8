import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { http, type SharedClock, TIMED_OUT, withTimeout } from "@brand-records/lifecycle";
import type { Registry } from "prom-client";
import { showGauge } from "./metrics.ts";

/** Limit of each degraded check: a kubelet waits for a second by default, and the readiness check takes its part. */
const DEGRADED_MS_MAX = 500;

/** Looks at dependencies without which the process still serves. */
export interface DegradedCheck {
  /** Named in place of a result if the check fails, or takes longer than half a second. */
  readonly dependency: string;
  /** Names those that are unavailable. */
  unavailable(): readonly string[] | Promise<readonly string[]>;
}

interface AdminOptions {
  readonly host: string;
  /** Port; with 0, the system chooses one. */
  readonly port: number;
  readonly metrics: Registry;
  /** Names what keeps the process from taking work; empty means ready. */
  notReady(): readonly string[] | Promise<readonly string[]>;
  /** Checks may be added later. Default: none. */
  readonly degraded?: readonly DegradedCheck[];
}

export interface AdminServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Serves probes and metrics, never on the public port: /healthz, /readyz, /metrics. */
export async function startAdminServer({ host, port, metrics, notReady, degraded = [] }: AdminOptions): Promise<AdminServer> {
  const check = async (): Promise<readonly string[]> => notReady();
  const routes: Record<string, () => Promise<{ status: number; type: string; body: string }>> = {
    "/healthz": async () => json(200, { status: "ok" }),
    "/readyz": async () => {
      // A failed check counts as not ready. Its error is not for the network.
      const waitingFor = await check().catch(() => ["readiness check"]);
      if (waitingFor.length > 0) return json(503, { status: "not ready", waiting_for: waitingFor });
      // With 503 a balancer would remove a process that still serves.
      const unavailable = (await Promise.all(degraded.map(unavailableOf))).flat();
      return json(200, { status: "ready", ...(unavailable.length > 0 && { degraded: unavailable }) });
    },
    "/metrics": async () => ({ status: 200, type: metrics.contentType, body: await metrics.metrics() }),
  };
  const server = http.createServer((request, response) => {
    const route = routes[request.url ?? ""] ?? (async () => json(404, { status: "not found", paths: Object.keys(routes) }));
    route().then(
      ({ status, type, body }) => response.writeHead(status, { "content-type": type }).end(body),
      (error: unknown) => response.writeHead(500, { "content-type": "text/plain" }).end(String(error)),
    );
  });
  await once(server.listen(port, host), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function unavailableOf({ dependency, unavailable }: DegradedCheck): Promise<readonly string[]> {
  const check = async (): Promise<readonly string[]> => unavailable();
  const names = await withTimeout(check(), DEGRADED_MS_MAX).catch(() => [dependency]);
  return names === TIMED_OUT ? [dependency] : names;
}

function json(status: number, body: object): { status: number; type: string; body: string } {
  return { status, type: "application/json", body: `${JSON.stringify(body)}\n` };
}

/** Difference from which a clock counts as wrong. One that is kept by NTP differs by milliseconds. */
const OFFSET_SECONDS_MAX = 5;
const DEPENDENCY = "correct clock";

/** Registers the metric `clock_offset_seconds`. @returns the check that names a wrong clock in `/readyz` */
export function reportClock(clock: Pick<SharedClock, "offsetSeconds">, registry: Registry): DegradedCheck {
  showGauge(registry, {
    name: "clock_offset_seconds",
    help: "Seconds by which this machine's clock is ahead of the database's; negative: behind.",
    collect() {
      this.set(clock.offsetSeconds);
    },
  });
  return { dependency: DEPENDENCY, unavailable: () => (Math.abs(clock.offsetSeconds) < OFFSET_SECONDS_MAX ? [] : [DEPENDENCY]) };
}
