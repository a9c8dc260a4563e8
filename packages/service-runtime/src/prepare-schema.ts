import { setTimeout as pause } from "node:timers/promises";
import { ConfigError } from "@brand-records/config";
import { Backoff } from "@brand-records/lifecycle";
import { countPendingMigrations, isMigrated, migrate, startFailureOf } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";

const PAUSE_MS_MIN = 250;
const PAUSE_MS_MAX = 5_000;

export interface SchemaOptions {
  /** Name of the service and of its schema. */
  readonly name: string;
  /** Directory of its migrations. */
  readonly migrations: string;
  readonly config: {
    readonly DATABASE_URL?: string | undefined;
    readonly MIGRATION_DATABASE_URL?: string | undefined;
    readonly MIGRATE_AT_START: "true" | "false";
  };
  readonly log: Logger;
  /** Number of tries after which it rejects with the last failure. Default: no bound. */
  readonly triesMax?: number;
  /** Whether the schema must be there already: one made from nothing would hide that a backup was not restored, or the wrong database. */
  readonly mustExist?: boolean;
}

/**
 * Brings the schema to this release's version, or with MIGRATE_AT_START=false waits until it is. Waits for a database that is away, and
 * logs each state once.
 *
 * @throws ConfigError if the database refuses the settings, or lacks a schema that must exist
 * @throws SchemaMismatchError if the schema does not work with this release
 */
export async function prepareSchema(options: SchemaOptions): Promise<void> {
  const { log, triesMax = Number.POSITIVE_INFINITY } = options;
  const backoff = new Backoff(PAUSE_MS_MIN, PAUSE_MS_MAX);
  let logged = "";
  for (let tries = 1; ; tries += 1) {
    const waiting = await prepareOnce(options);
    if (waiting === undefined) {
      if (logged !== "") log.info({ tries }, "the database is ready");
      return;
    }
    if (tries >= triesMax) throw waiting.cause;
    if (waiting.state !== logged) log.warn({ err: waiting.cause, state: waiting.state }, "waiting for the database");
    logged = waiting.state;
    await pause(backoff.next());
  }
}

interface Waiting {
  readonly state: string;
  readonly cause: Error;
}

async function prepareOnce({ name, migrations, config, log, mustExist = false }: SchemaOptions): Promise<Waiting | undefined> {
  const isOwners = config.MIGRATE_AT_START === "true" && config.MIGRATION_DATABASE_URL !== undefined;
  const setting = isOwners ? "MIGRATION_DATABASE_URL" : "DATABASE_URL";
  const schema = { url: config[setting] ?? "", schema: name, directory: migrations };
  try {
    if (mustExist && !(await isMigrated(schema)))
      throw new ConfigError([
        `${setting}: the database has no schema ${name} of a release: is it the right one, and was its backup restored?`,
      ]);
    if (config.MIGRATE_AT_START === "false") {
      const pending = await countPendingMigrations(schema);
      if (pending === 0) return undefined;
      return { state: "not migrated", cause: new Error(`the schema lacks ${pending} migrations: run migrate.js of this release`) };
    }
    const applied = await migrate({ ...schema, grantTo: isOwners ? loginOf(config.DATABASE_URL) : undefined });
    if (applied.length > 0) log.info({ applied }, "schema migrated");
    return undefined;
  } catch (error) {
    const failure = startFailureOf(error);
    if (failure === undefined) throw error;
    if (failure.kind === "settings") throw new ConfigError([`${setting}: ${failure.problem}`]);
    return { state: failure.failure, cause: failure.cause };
  }
}

/** Undefined without a URL, or if it names no login. */
function loginOf(url: string | undefined): string | undefined {
  const login = url === undefined ? "" : decodeURIComponent(new URL(url).username);
  return login === "" ? undefined : login;
}
