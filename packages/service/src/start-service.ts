import { setTimeout as pause } from "node:timers/promises";
import type { Lifecycle } from "@brand-records/lifecycle";
import { migrate, openPool, type Database } from "@brand-records/postgres";
import { serveRpc, type ServedService } from "@brand-records/rpc";
import { openMetrics, startAdminServer, type Logger, type Registry } from "@brand-records/telemetry";
import type { z } from "zod";
import type { serviceSettings } from "./settings.ts";

type Config = z.output<z.ZodObject<typeof serviceSettings>>;

export interface ServiceOptions {
  /** Also the name of its schema. */
  readonly name: string;
  readonly config: Config;
  /** Directory of its migrations. */
  readonly migrations: string;
  readonly life: Lifecycle;
  readonly log: Logger;
  /**
   * Builds what is served, and hands whatever it starts to `life`.
   *
   * @param openOwnPool connections of their own for work that holds on to them, so that requests never wait for it
   */
  wire(
    db: Database,
    openOwnPool: (purpose: string, max: number) => Database,
    metrics: Registry,
  ): readonly ServedService[] | Promise<readonly ServedService[]>;
  /** What is away, a name each, while the service serves all the same. */
  degraded?(): readonly string[] | Promise<readonly string[]>;
}

/**
 * Starts what every service has, in the order in which it is needed: probes, schema, pool, the service's own parts, gRPC.
 *
 * @returns the ports it listens on
 */
export async function startService({
  name,
  config,
  migrations,
  life,
  log,
  wire,
  degraded,
}: ServiceOptions): Promise<{ rpc_port: number; admin_port: number }> {
  const metrics = openMetrics(name);
  let db: Database | undefined;
  const notReady = async (): Promise<string[]> => [...(life.isReady ? [] : ["process"]), ...((await answers(db)) ? [] : ["postgres"])];
  const admin = life.own(
    "admin server",
    await startAdminServer({ host: config.ADMIN_HOST, port: config.ADMIN_PORT, metrics, notReady, ...(degraded && { degraded }) }),
  );

  const applied = await migrate({ url: config.DATABASE_URL, schema: name, directory: migrations });
  if (applied.length > 0) log.info({ applied }, "schema migrated");
  const onIdleError = (error: Error): void => log.warn({ err: error }, "idle database connection lost");
  const openOwnPool = (purpose: string, max: number): Database =>
    life.own(`${purpose} pool`, openPool({ url: config.DATABASE_URL, max, applicationName: purpose, onIdleError }));
  db = openOwnPool(name, config.DATABASE_CONNECTIONS_MAX);

  const rpc = life.own("rpc server", await serveRpc({ config, services: await wire(db, openOwnPool, metrics), log, metrics }));
  return { rpc_port: rpc.port, admin_port: admin.port };
}

const PROBE_MS = 1_000;

/** Whether the database answers while a probe is ready to wait for it. */
async function answers(db: Database | undefined): Promise<boolean> {
  if (db === undefined) return false;
  const tooLong = new AbortController();
  const query = db.query("select 1").then(
    () => true,
    () => false,
  );
  const patience = pause(PROBE_MS, false, { signal: tooLong.signal, ref: false }).catch(() => false);
  const answered = await Promise.race([query, patience]);
  tooLong.abort();
  return answered;
}
