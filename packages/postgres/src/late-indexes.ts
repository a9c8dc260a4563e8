import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openDatabaseSession } from "./database-session.ts";
import { LATE_INDEXES, MigrationError } from "./migration-files.ts";
import type { Database } from "./pool.ts";
import type { Sql } from "./sql.ts";
import { unnestRows } from "./unnest-rows.ts";

/** A build reads a whole table and waits for older transactions. */
const BUILD_MS_MAX = 3_600_000;
/** A process that is frozen gives the lock up. */
const IDLE_MS = 60_000;
/** Attaching an index waits for readers of the table, and new readers for it. The next round retries. */
const LOCK_WAIT = "500ms";

const COMMENT = /--.*$/gm;
const STATEMENT = /^create index (\w+) on ([\w.]+) ([^;]+)$/;

/** An index that is built while its table is read and written: a migration would stop all writes meanwhile. */
interface LateIndex {
  readonly name: string;
  /** The table's name with its schema. */
  readonly relation: string;
  /** SQL of `create index` after the table. */
  readonly definition: string;
}

/** An index that does not exist, or whose build was interrupted, or that is not attached. */
interface MissingIndex extends LateIndex {
  /** The index of the parent table, if the table is a partition. */
  readonly parent: string | null;
  /** Null if it does not exist. */
  readonly is_valid: boolean | null;
}

export interface LateIndexesOptions {
  readonly url: string;
  /** The schema of the tables. */
  readonly schema: string;
  /** The folder of its migrations. */
  readonly directory: string;
}

/**
 * Builds what `late-indexes.sql` lists, and what partitions lack of their table's indexes, if a migration created one `on only` the table.
 * Until then queries are correct and slower. Safe to run in any number of processes: one of them builds. Continues after an interruption.
 *
 * @returns the names of the indexes it built
 */
export async function buildLateIndexes(db: Database, { url, schema, directory }: LateIndexesOptions): Promise<string[]> {
  const listed = await readLateIndexes(directory);
  if ((await missingIndexes(db, schema, listed)).length === 0) return [];
  const built = await asIndexBuilder(url, schema, async (builder) => {
    const missing = await missingIndexes(builder, schema, listed);
    for (const index of missing) await buildIndex(builder, schema, index);
    return missing.map(({ name }) => name);
  });
  return built ?? [];
}

/** @throws MigrationError for anything but `create index NAME on SCHEMA.TABLE …` */
async function readLateIndexes(directory: string): Promise<LateIndex[]> {
  const sql = await readFile(join(directory, LATE_INDEXES), "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  });
  const statements = sql.replaceAll(COMMENT, "").split(";");
  return statements.flatMap((statement) => {
    const text = statement.replaceAll(/\s+/g, " ").trim();
    if (text === "") return [];
    const [, name, relation, definition] = STATEMENT.exec(text) ?? [];
    if (name === undefined || relation === undefined || definition === undefined) {
      throw new MigrationError(`${LATE_INDEXES}: ${text}: must be create index NAME on SCHEMA.TABLE …`);
    }
    return [{ name, relation, definition }];
  });
}

const LISTED = unnestRows({ name: "text", relation: "text", definition: "text" }, { as: "o", after: 1 });

const MISSING = `
  with wanted as (
    select o.name, o.relation, o.definition, null as parent from ${LISTED.relation}
    union all
    select i.relname || substr(t.relname, 1 + length(p.relname)), $1 || '.' || t.relname,
           substring(pg_get_indexdef(i.oid) from ' (USING .*)$'), $1 || '.' || i.relname
      from pg_class p
      join pg_index x on x.indrelid = p.oid
      join pg_class i on i.oid = x.indexrelid and i.relkind = 'I'
      join pg_inherits h on h.inhparent = p.oid
      join pg_class t on t.oid = h.inhrelid
     where p.relnamespace = to_regnamespace($1)
       and not exists (select from pg_inherits ih join pg_index ix on ix.indexrelid = ih.inhrelid
                        where ih.inhparent = i.oid and ix.indrelid = t.oid))
  select w.*, x.indisvalid as is_valid
    from wanted w left join pg_index x on x.indexrelid = to_regclass($1 || '.' || w.name)
   where w.parent is not null or x.indisvalid is not true
   order by w.parent nulls first, w.relation desc, w.name`;

const missingIndexes = (sql: Sql, schema: string, listed: readonly LateIndex[]): Promise<MissingIndex[]> =>
  sql.query<MissingIndex>(MISSING, [schema, ...LISTED.values(listed)]);

/** Builds an index, in the place of what an interrupted build left, and attaches it to that of the parent table. */
async function buildIndex(sql: Sql, schema: string, { name, relation, definition, parent, is_valid }: MissingIndex): Promise<void> {
  if (is_valid === false) await sql.query(`drop index concurrently ${schema}.${name}`);
  if (is_valid !== true) await sql.query(`create index concurrently ${name} on ${relation} ${definition}`);
  if (parent === null) return;
  await sql.query(`set lock_timeout = '${LOCK_WAIT}'`);
  await sql.query(`alter index ${parent} attach partition ${schema}.${name}`);
  await sql.query("reset lock_timeout");
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
