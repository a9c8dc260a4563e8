import { openDatabaseSession } from "./database-session.ts";
import type { Database } from "./pool.ts";
import type { Sql } from "./sql.ts";
import { unnestRows } from "./unnest-rows.ts";

/** A build reads a whole table and waits for older transactions. */
const BUILD_MS_MAX = 3_600_000;
/** A process that is frozen gives the lock up. */
const IDLE_MS = 60_000;

/** An index that is built while its table is read and written: a migration would stop all writes meanwhile. */
export interface LateIndex {
  readonly name: string;
  /** Name with its schema. */
  readonly table: string;
  /** SQL of `create index` after the table. */
  readonly definition: string;
}

export interface LateIndexesOptions {
  readonly url: string;
  /** The schema of the tables. */
  readonly schema: string;
  readonly indexes: readonly LateIndex[];
}

/**
 * Builds those of the indexes that do not exist. Until then queries are correct and slower. Safe to run in any number of processes: one of
 * them builds. Continues after an interruption.
 *
 * @returns the names of the indexes it built
 */
export async function buildLateIndexes(db: Database, { url, schema, indexes }: LateIndexesOptions): Promise<string[]> {
  if ((await missingAmong(db, schema, indexes)).length === 0) return [];
  const built = await asIndexBuilder(url, schema, async (builder) => {
    const missing = await missingAmong(builder, schema, indexes);
    for (const index of missing) await buildIndex(builder, schema, index);
    return missing.map(({ name }) => name);
  });
  return built ?? [];
}

/** An index that does not exist, or whose build was interrupted. */
interface UnbuiltIndex extends LateIndex {
  readonly is_invalid: boolean;
}

const WANTED = unnestRows({ name: "text" }, { as: "w", after: 1 });

async function missingAmong(sql: Sql, schema: string, indexes: readonly LateIndex[]): Promise<UnbuiltIndex[]> {
  const found = await sql.query<{ name: string; valid: boolean }>(
    `select w.name, x.indisvalid as valid from ${WANTED.relation}
       join pg_index x on x.indexrelid = to_regclass(quote_ident($1) || '.' || quote_ident(w.name))`,
    [schema, ...WANTED.values(indexes.map(({ name }) => ({ name })))],
  );
  const valid = new Map(found.map((row) => [row.name, row.valid]));
  return indexes.filter(({ name }) => valid.get(name) !== true).map((index) => ({ ...index, is_invalid: valid.has(index.name) }));
}

/** Builds an index, in the place of what an interrupted build left. */
export async function buildIndex(sql: Sql, schema: string, { name, table, definition, is_invalid }: UnbuiltIndex): Promise<void> {
  if (is_invalid) await sql.query(`drop index concurrently ${schema}.${name}`);
  await sql.query(`create index concurrently ${name} on ${table} ${definition}`);
}

/**
 * Runs `build` in a session that holds a lock, and whose statements may take an hour. If the session is lost, so is the lock, and `build`
 * rejects: another process may be building by then. A build ends soon after its process.
 *
 * @returns undefined if another process builds indexes of the schema
 */
export async function asIndexBuilder<T>(url: string, schema: string, build: (builder: Sql) => Promise<T>): Promise<T | undefined> {
  const builder = await openDatabaseSession({
    url,
    applicationName: `${schema} indexes`,
    idleTimeoutMs: IDLE_MS,
    statementTimeoutMs: BUILD_MS_MAX,
  });
  try {
    const [lock] = await builder.query<{ is_ours: boolean }>("select pg_try_advisory_lock(hashtext($1)) as is_ours", [
      `brand-records ${schema} indexes`,
    ]);
    return lock?.is_ours === true ? await build(builder) : undefined;
  } finally {
    // A session that has ended already needs no stop.
    await builder.stop().catch(() => {});
  }
}
