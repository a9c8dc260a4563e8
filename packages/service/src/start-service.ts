import { withTimeout, type Lifecycle } from "@brand-records/lifecycle";
import { openPool, type Database, type LateIndex } from "@brand-records/postgres";
import { reportCertificates, serveRpc, type ServedService } from "@brand-records/rpc";
import { openMetrics, startAdminServer, startTracing, type Logger, type Registry } from "@brand-records/telemetry";
import type { z } from "zod";
import { startIndexBuilder } from "./index-builder.ts";
import { openMaintenance, type Maintenance } from "./maintenance.ts";
import { poolMetrics } from "./pool-metrics.ts";
import { prepareSchema } from "./prepare-schema.ts";
import type { serviceSettings } from "./settings.ts";

export interface ServiceOptions {
  /** Also the name of its schema. */
  readonly name: string;
  readonly config: z.output<z.ZodObject<typeof serviceSettings>>;
  /** Directory of its migrations. */
  readonly migrations: string;
  readonly life: Lifecycle;
  readonly log: Logger;
}

export interface ServicePorts {
  readonly rpc_port: number;
  readonly admin_port: number;
}

/** What every service builds on: probes, a migrated schema, a pool, metrics. */
export interface StartedService {
  readonly db: Database;
  /** Of the login that owns the schema, where it is known: DATABASE_URL's login may lack the right to build an index. */
  readonly ownerUrl: string;
  readonly metrics: Registry;
  readonly maintenance: Maintenance;
  /** Opens a separate pool for work that holds connections for a long time, so that requests never wait for it. */
  openPool(purpose: string, max: number): Database;
  /** Names a dependency in `/readyz` while `isDegraded` returns true: the service serves without it. */
  reportDegraded(dependency: string, isDegraded: () => boolean | Promise<boolean>): void;
  /** Builds those of these indexes that do not exist, after the start: tables are read and written meanwhile. */
  buildIndexes(indexes: readonly LateIndex[]): void;
  /** Serves over gRPC. Called last: everything the handlers need has been started. */
  serve(services: readonly ServedService[]): Promise<ServicePorts>;
}

/** Starts what every service needs, in order: pool, probes, schema. The caller starts its own parts, then calls `serve`. */
export async function startService({ name, config, migrations, life, log }: ServiceOptions): Promise<StartedService> {
  const metrics = openMetrics(name);
  // Owned first, stopped last: its spans include those of the stop.
  life.own("tracing", await startTracing({ service: name, config, log, metrics }));
  life.own("certificates", reportCertificates(config, metrics, log));
  const maintenance = openMaintenance(log, metrics);
  const pools = poolMetrics(metrics);
  const onIdleError = (error: Error): void => log.warn({ err: error }, "idle database connection lost");
  const openOwnedPool = (purpose: string, max: number): Database => {
    const observer = pools.observerOf(purpose);
    const opened = openPool({ url: config.DATABASE_URL, max, applicationName: purpose, onIdleError, ...observer });
    pools.show(purpose, opened.state);
    return life.own(`${purpose} pool`, opened);
  };
  const db = openOwnedPool(name, config.DATABASE_CONNECTIONS_MAX);

  const degradedChecks = new Map<string, () => boolean | Promise<boolean>>();
  const admin = life.own(
    "admin server",
    await startAdminServer({
      host: config.ADMIN_HOST,
      port: config.ADMIN_PORT,
      metrics,
      notReady: async () => [...(life.isReady ? [] : ["process"]), ...((await isReachable(db)) ? [] : ["postgres"])],
      degraded: () => degradedAmong(degradedChecks),
    }),
  );

  await prepareSchema({ name, migrations, config, log });
  const ownerUrl = config.MIGRATION_DATABASE_URL ?? config.DATABASE_URL;

  return {
    db,
    ownerUrl,
    metrics,
    maintenance,
    openPool: openOwnedPool,
    reportDegraded: (dependency, isDegraded) => void degradedChecks.set(dependency, isDegraded),
    buildIndexes(indexes) {
      life.own("index builder", startIndexBuilder(db, { url: ownerUrl, schema: name, indexes }, maintenance, log));
    },
    async serve(services) {
      const rpc = life.own("rpc server", await serveRpc({ config, services, log, metrics }));
      return { rpc_port: rpc.port, admin_port: admin.port };
    },
  };
}

async function degradedAmong(checks: ReadonlyMap<string, () => boolean | Promise<boolean>>): Promise<string[]> {
  const results = await Promise.all([...checks].map(async ([dependency, isDegraded]) => ((await isDegraded()) ? [dependency] : [])));
  return results.flat();
}

const PROBE_TIMEOUT_MS = 1_000;

/** Whether the database responds within a probe's time. */
async function isReachable(db: Database): Promise<boolean> {
  const query = db.query("select 1").then(
    () => true,
    () => false,
  );
  return (await withTimeout(query, PROBE_TIMEOUT_MS)) === true;
}
