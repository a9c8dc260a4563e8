import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import {
  appliedMigrations,
  type Migration,
  MigrationError,
  migrationsTable,
  pendingMigrations,
  readMigrations,
} from "./migration-files.ts";

/** Later statements on a table wait behind a migration that waits for it, and processes of the release before serve meanwhile. */
const LOCK_WAIT_SECONDS = 1;
/** Pauses between tries, in which those statements proceed. About half a minute in total. */
const LOCK_PAUSES_MS: readonly number[] = [250, 500, 1_000, 2_000, 4_000, 4_000, 4_000, 4_000, 4_000];
const LOCK_NOT_AVAILABLE = "55P03";
const CONNECT_TIMEOUT_MS = 2_000;

interface MigrateOptions {
  readonly url: string;
  /** The service's schema. Created if it does not exist. */
  readonly schema: string;
  /** The folder of `0001-name.sql`, `0002-…`, without gaps. */
  readonly directory: string;
  /** A login that reads and writes the schema, if it does not own it: it gets these rights. */
  readonly grantTo?: string | undefined;
  /** Pauses after each time that a table stays locked. */
  readonly lockPausesMs?: readonly number[];
}

/**
 * Migrates a schema forward to this release: each migration in its own transaction, one process at a time by advisory lock.
 * Any number of processes may call it at the same time.
 *
 * @returns the names of the migrations it applied
 * @throws SchemaMismatchError if the schema is newer than this release and does not work with it, or was created by other migrations
 * @throws MigrationError if a migration fails, or a table stays locked
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const { schema, directory, grantTo, lockPausesMs = LOCK_PAUSES_MS } = options;
  const migrations = await readMigrations(directory);
  return withClient(options, async (client) => {
    await client.query("select pg_advisory_lock(hashtext($1))", [`brand-records migrate ${schema}`]);
    const pending = pendingMigrations(schema, migrations, await appliedMigrations(client, schema));
    const grantRights = async (): Promise<void> => {
      if (grantTo !== undefined) await grant(client, schema, grantTo);
    };
    await inTransaction(client, async () => {
      if (pending.length > 0) await createTable(client, schema);
      await grantRights();
    });
    // With each migration: a process with this login that waits for the last one would otherwise be refused, and end, between the two.
    const applyOne = (migration: Migration): Promise<void> =>
      inTransaction(client, async () => {
        await apply(client, schema, migration);
        await grantRights();
      });
    for (const migration of pending) await whenFree(migration, lockPausesMs, applyOne);
    return pending.map((migration) => migration.name);
  });
}

/**
 * Returns how many migrations of this release the schema lacks. Changes nothing.
 *
 * @throws SchemaMismatchError like `migrate`
 */
export async function countPendingMigrations(options: Pick<MigrateOptions, "url" | "schema" | "directory">): Promise<number> {
  const migrations = await readMigrations(options.directory);
  return withClient(options, async (client) => {
    return pendingMigrations(options.schema, migrations, await appliedMigrations(client, options.schema)).length;
  });
}

/** Returns whether a release has made the schema. */
export const isMigrated = (options: Pick<MigrateOptions, "url" | "schema">): Promise<boolean> =>
  withClient(options, async (client) => (await appliedMigrations(client, options.schema)).length > 0);

async function withClient<T>({ url, schema }: Pick<MigrateOptions, "url" | "schema">, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `migrate ${schema}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  // Without a listener the loss of the connection would end the process; the running query rejects as well.
  client.on("error", () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    // Ending the session also releases the lock.
    await client.end();
  }
}

async function createTable(client: pg.Client, schema: string): Promise<void> {
  // `if not exists` would need the right to create schemas even if it exists.
  const { rows } = await client.query("select 1 from pg_namespace where nspname = $1", [schema]);
  if (rows.length === 0) await client.query(`create schema ${pg.escapeIdentifier(schema)}`);
  await client.query(`create table if not exists ${migrationsTable(schema)} (
    version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now(), works_with integer)`);
}

async function whenFree(
  migration: Migration,
  lockPausesMs: readonly number[],
  applyOne: (migration: Migration) => Promise<void>,
): Promise<void> {
  const { name } = migration;
  for (let tries = 0; ; tries += 1) {
    try {
      return await applyOne(migration);
    } catch (error) {
      if (!isLocked(error))
        throw new MigrationError(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
      const pauseMs = lockPausesMs[tries];
      if (pauseMs === undefined) {
        throw new MigrationError(
          `${name}: a table stayed locked by other transactions at each of ${tries + 1} tries. Nothing was changed. Start again; ` +
            `pg_stat_activity shows long transactions.`,
          { cause: error },
        );
      }
      await pause(pauseMs);
    }
  }
}

const isLocked = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE;

async function inTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  try {
    await client.query("begin");
    await work();
    await client.query("commit");
  } catch (error) {
    // If the connection is lost, the server rolls back.
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

async function apply(client: pg.Client, schema: string, { version, name, sql, checksum, worksWith }: Migration): Promise<void> {
  await client.query(`set local lock_timeout = '${LOCK_WAIT_SECONDS}s'`);
  await client.query(sql);
  await client.query(`insert into ${migrationsTable(schema)} (version, name, checksum, works_with) values ($1, $2, $3, $4)`, [
    version,
    name,
    checksum,
    worksWith,
  ]);
}

/** Repeated at every start: the login may be new. */
async function grant(client: pg.Client, schema: string, login: string): Promise<void> {
  const [name, to] = [pg.escapeIdentifier(schema), pg.escapeIdentifier(login)];
  const { rows } = await client.query("select 1 where current_user = $1", [login]);
  if (rows.length > 0) return;
  await client.query(`grant usage on schema ${name} to ${to}`);
  await client.query(`grant select, insert, update, delete on all tables in schema ${name} to ${to}`);
  await client.query(`revoke insert, update, delete on ${migrationsTable(schema)} from ${to}`);
  await client.query(`grant usage, select on all sequences in schema ${name} to ${to}`);
  await client.query(`grant execute on all functions in schema ${name} to ${to}`);
}
