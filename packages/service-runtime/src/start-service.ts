import { SharedClock, withStopTimeout, type Clock, type Lifecycle } from "@brand-records/lifecycle";
import { databaseTime, openPool, type Database, type PoolOptions } from "@brand-records/postgres";
import { reportCertificates, serveRpc, type AuditSink, type Grants, type ServedService } from "@brand-records/rpc";
import {
  openMetrics,
  reportClock,
  startAdminServer,
  startTracing,
  type DegradedCheck,
  type Logger,
  type Registry,
} from "@brand-records/telemetry";
import type { z } from "zod";
import { AnnouncedKeys, showUnusableKeys } from "./announced-keys.ts";
import type { HeldKey } from "./living-processes.ts";
import { type Maintenance, openMaintenance, startIndexBuilder } from "./maintenance.ts";
import { poolMetrics } from "./pool-metrics.ts";
import { isReachable } from "./is-reachable.ts";
import { prepareSchema } from "./prepare-schema.ts";
import type { serviceSettings } from "./settings.ts";

/** A question to a database that does not respond may be cut off. */
const CLOCK_STOP_MS = 200;

interface ServiceOptions {
  /** Name of the service and of its schema. */
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
  /** The database's time. What is signed or judged by time goes by it. */
  readonly clock: Clock;
  readonly metrics: Registry;
  readonly maintenance: Maintenance;
  /** Opens a separate pool for work that holds connections for a long time, so that requests never wait for it. */
  openPool(purpose: string, max: number, options?: Pick<PoolOptions, "settings" | "pipeline">): Database;
  /** Names a dependency in `/readyz` while `isDegraded` returns true, fails or takes too long: the service serves without it. */
  reportDegraded(dependency: string, isDegraded: () => boolean | Promise<boolean>): void;
  /**
   * Announces the keys of this process to the others of the service, until it stops, and reports degraded while it cannot.
   *
   * @param onRevived looks for what this process cannot read, after it had counted as ended
   */
  announceKeys(keys: readonly HeldKey[], onRevived?: () => Promise<boolean>): Promise<AnnouncedKeys>;
  /**
   * Names keys in `/readyz` and in the metric `unusable_keys`: those under which something is stored that this process cannot read.
   *
   * @param setting that has the keys
   */
  reportUnusableKeys(setting: string, ids: () => readonly number[]): void;
  /**
   * Serves over gRPC, with the pool's connections open. Called last: everything the handlers need has been started.
   *
   * @param people of a service with methods that act for people: what proves who they are, and where its part of the audit log goes
   */
  serve(services: readonly ServedService[], people?: { readonly grants: Grants; readonly audit: AuditSink }): Promise<ServicePorts>;
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
  const openOwnedPool = (purpose: string, max: number, options: Pick<PoolOptions, "settings" | "pipeline"> = {}): Database => {
    const observer = pools.observerOf(purpose);
    const opened = openPool({ url: config.DATABASE_URL, max, applicationName: purpose, ...options, onIdleError, ...observer });
    pools.show(purpose, opened.state);
    return life.own(`${purpose} pool`, opened);
  };
  const db = openOwnedPool(name, config.DATABASE_CONNECTIONS_MAX);

  const degradedChecks: DegradedCheck[] = [];
  const reportDegraded = (dependency: string, isDegraded: () => boolean | Promise<boolean>): void =>
    void degradedChecks.push({ dependency, unavailable: async () => ((await isDegraded()) ? [dependency] : []) });
  const admin = life.own(
    "admin server",
    await startAdminServer({
      host: config.ADMIN_HOST,
      port: config.ADMIN_PORT,
      metrics,
      notReady: async () => [...(life.isReady ? [] : ["process"]), ...((await isReachable(db, config.DATABASE_URL)) ? [] : ["postgres"])],
      degraded: degradedChecks,
    }),
  );

  await prepareSchema({ name, migrations, config, log });
  const clock = new SharedClock(() => databaseTime(db));
  life.own("clock", withStopTimeout(clock, CLOCK_STOP_MS));
  await clock.measure();
  degradedChecks.push(reportClock(clock, metrics));
  // DATABASE_URL's login may lack the right to build an index.
  const url = config.MIGRATION_DATABASE_URL ?? config.DATABASE_URL;
  life.own("index builder", startIndexBuilder(db, { url, schema: name, directory: migrations }, maintenance, log));

  return {
    db,
    clock,
    metrics,
    maintenance,
    openPool: openOwnedPool,
    reportDegraded,
    async announceKeys(keys, onRevived) {
      const announced = life.own("announced keys", await AnnouncedKeys.start({ db, schema: name, keys, log, onRevived }));
      reportDegraded("announcement of its keys", () => announced.isFailing());
      return announced;
    },
    reportUnusableKeys(setting, ids) {
      showUnusableKeys(metrics, ids);
      degradedChecks.push({ dependency: setting, unavailable: () => ids().map((id) => `key ${id} of ${setting}`) });
    },
    async serve(services, people) {
      await openConnections(db, config.DATABASE_CONNECTIONS_MAX, log);
      const rpc = life.own("rpc server", await serveRpc({ config, services, log, metrics, ...people }));
      return { rpc_port: rpc.port, admin_port: admin.port };
    },
  };
}

/**
 * Before the first "ready": clients give a new process its share of the calls at once. Without connections, three rolling runs beside twenty
 * busy processes failed 1,406 of 33,282 requests.
 */
async function openConnections(db: Database, wanted: number, log: Logger): Promise<void> {
  const open = await db.fill();
  if (open < wanted) log.warn({ open, wanted }, "the database accepts fewer connections than DATABASE_CONNECTIONS_MAX");
}
