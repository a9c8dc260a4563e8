import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";

/** While a migration waits for a table, so do all later statements on it, and processes of the release before serve meanwhile. */
const LOCK_WAIT_SECONDS = 5;
const LOCK_NOT_AVAILABLE = "55P03";

export interface MigrateOptions {
  readonly url: string;
  /** The service's schema. Created if it does not exist. */
  readonly schema: string;
  /** The folder of `0001-name.sql`, `0002-…`, without gaps. */
  readonly directory: string;
}

export class MigrationError extends Error {
  override readonly name: string = "MigrationError";
}

/** The migrations applied to the schema are not the first ones of this release. Retrying does not help. */
export class SchemaMismatchError extends MigrationError {
  override readonly name = "SchemaMismatchError";
}

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/**
 * Migrates a schema forward to this release: each migration in its own transaction, one process at a time by advisory lock.
 * Any number of processes may call it at the same time.
 *
 * @returns the names of the migrations it applied
 * @throws SchemaMismatchError if the schema is newer than this release, or was created by other migrations
 * @throws MigrationError if a migration fails, or waits longer than 5 s for a lock
 */
export async function migrate({ url, schema, directory }: MigrateOptions): Promise<string[]> {
  const migrations = await readMigrations(directory);
  const client = new pg.Client({ connectionString: url, application_name: `migrate ${schema}` });
  // Without a listener the loss of the connection would end the process; the running query rejects as well.
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("select pg_advisory_lock(hashtext($1))", [`brand-records migrate ${schema}`]);
    await client.query(`create schema if not exists ${pg.escapeIdentifier(schema)}`);
    const table = `${pg.escapeIdentifier(schema)}.schema_migrations`;
    await client.query(`create table if not exists ${table} (
      version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`);
    const applied = await client.query<{ version: number; checksum: string }>(`select version, checksum from ${table} order by version`);
    const pending = pendingMigrations(schema, migrations, applied.rows);
    for (const migration of pending) await apply(client, table, migration);
    return pending.map((migration) => migration.name);
  } finally {
    // Ending the session also releases the lock.
    await client.end();
  }
}

async function apply(client: pg.Client, table: string, { version, name, sql, checksum }: Migration): Promise<void> {
  try {
    await client.query("begin");
    await client.query(`set local lock_timeout = '${LOCK_WAIT_SECONDS}s'`);
    await client.query(sql);
    await client.query(`insert into ${table} (version, name, checksum) values ($1, $2, $3)`, [version, name, checksum]);
    await client.query("commit");
  } catch (error) {
    // If the connection is lost, the server rolls back.
    await client.query("rollback").catch(() => {});
    throw new MigrationError(`${name}: ${reasonOf(error)}`, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE) {
    return `a table stayed locked by another transaction for ${LOCK_WAIT_SECONDS} s. Nothing was changed. Start again; pg_stat_activity shows long transactions.`;
  }
  return error instanceof Error ? error.message : String(error);
}

function pendingMigrations(
  schema: string,
  known: readonly Migration[],
  applied: readonly { version: number; checksum: string }[],
): readonly Migration[] {
  for (const { version, checksum } of applied) {
    const migration = known[version - 1];
    if (migration === undefined) {
      throw new SchemaMismatchError(
        `The database schema "${schema}" is at version ${version}, newer than this release (${known.length}). Run the newer release.`,
      );
    }
    if (migration.checksum !== checksum) {
      throw new SchemaMismatchError(
        `The database schema "${schema}" was created by an incompatible release: its ${migration.name} differs from this release's. ` +
          `On a laptop, run "npm run reset": it deletes the local database and its records. Elsewhere, run the release that created the ` +
          `database. If you edited the file, restore it and add a new migration.`,
      );
    }
  }
  return known.slice(applied.length);
}

async function readMigrations(directory: string): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sql")).toSorted();
  return Promise.all(
    names.map(async (name, index) => {
      const version = Number(/^(\d{4})-[a-z0-9-]+\.sql$/.exec(name)?.[1]);
      if (version !== index + 1) throw new MigrationError(`${name}: number migrations 0001-name.sql, 0002-…, without gaps`);
      const sql = await readFile(join(directory, name), "utf8");
      return { version, name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
    }),
  );
}
