import { openPool, type Database } from "@brand-records/postgres";

/** A build reads a whole table and waits for older transactions. */
const BUILD_MS_MAX = 3_600_000;
/** Attaching an index waits for readers of the table, and new readers for it. The next round retries. */
const LOCK_WAIT = "500ms";

/** An index that a migration defines and that is not built yet. */
interface MissingIndex {
  readonly name: string;
  readonly table: string;
  /** SQL of `create index` after the table. */
  readonly definition: string;
  /** The index of the parent table; null if the table is not partitioned. */
  readonly parent: string | null;
  /** A build was interrupted. */
  readonly is_invalid: boolean;
  /** It is built and only needs to be attached. */
  readonly is_valid: boolean;
}

/** Of the one table without partitions. Of pending deliveries only, as a claim then leaves them alone; those being sent are few. */
const OF_DELIVERIES = {
  deliveries_of_event: "using btree (event_id) where state = 'pending'",
  deliveries_of_type: "using btree (receiver_id, event_type, id desc) where state = 'pending'",
};

/** Indexes of a parent table that some of its partitions do not have, and OF_DELIVERIES. */
const MISSING = `
  with wanted as (
    select i.relname || '_' || right(t.relname, 8) as name, 'webhook.' || t.relname as table,
           substring(pg_get_indexdef(i.oid) from ' (USING .*)$') as definition, 'webhook.' || i.relname as parent
      from pg_class p
      join pg_index x on x.indrelid = p.oid
      join pg_class i on i.oid = x.indexrelid and i.relkind = 'I'
      join pg_inherits h on h.inhparent = p.oid
      join pg_class t on t.oid = h.inhrelid
     where p.oid in ('webhook.events'::regclass, 'webhook.past_deliveries'::regclass)
       and not exists (select from pg_inherits ih join pg_index ix on ix.indexrelid = ih.inhrelid
                        where ih.inhparent = i.oid and ix.indrelid = t.oid)
    union all
    select o.name, 'webhook.deliveries', o.definition, null from unnest($1::text[], $2::text[]) as o(name, definition))
  select w.*, x.indisvalid is false as is_invalid, x.indisvalid is true as is_valid
    from wanted w left join pg_index x on x.indexrelid = to_regclass('webhook.' || w.name)
   where w.parent is not null or x.indisvalid is not true
   order by w.table desc, w.name`;

const missingIndexes = (db: Database): Promise<MissingIndex[]> =>
  db.query<MissingIndex>(MISSING, [Object.keys(OF_DELIVERIES), Object.values(OF_DELIVERIES)]);

/**
 * Builds the indexes that a migration defined for tables with rows, while these are read and written. Until then lists with filters
 * are complete and slower. Safe to run in any number of processes: one of them builds. Continues after an interruption.
 *
 * @returns the names of the indexes it built
 */
export async function buildLateIndexes(db: Database, url: string): Promise<string[]> {
  if ((await missingIndexes(db)).length === 0) return [];
  // One connection, which holds the lock.
  const builder = openPool({ url, max: 1, applicationName: "webhook indexes", statementTimeoutMs: BUILD_MS_MAX });
  try {
    // A build ends soon after its process.
    await builder.query("set client_connection_check_interval = 1000");
    const [lock] = await builder.query<{ is_ours: boolean }>(
      "select pg_try_advisory_lock(hashtext('brand-records webhook indexes')) as is_ours",
    );
    if (lock?.is_ours !== true) return [];
    const built: string[] = [];
    for (const index of await missingIndexes(builder)) {
      await build(builder, index);
      built.push(index.name);
    }
    return built;
  } finally {
    await builder.stop();
  }
}

async function build(db: Database, { name, table, definition, parent, is_invalid, is_valid }: MissingIndex): Promise<void> {
  if (is_invalid) await db.query(`drop index concurrently webhook.${name}`);
  if (parent === "webhook.past_deliveries_of_type") await storeTypes(db, table);
  if (!is_valid) await db.query(`create index concurrently ${name} on ${table} ${definition}`);
  if (parent === null) return;
  await db.transaction(async (sql) => {
    await sql.query(`set local lock_timeout = '${LOCK_WAIT}'`);
    await sql.query(`alter index ${parent} attach partition webhook.${name}`);
  });
}

/** Types that release 0.2.0 did not store, so that the index has them. Nothing else changes a past delivery. */
async function storeTypes(db: Database, table: string): Promise<void> {
  await db.query(
    `update ${table} d set event_type = e.type from webhook.events e
      where d.event_type is null and e.id = d.event_id and e.created_at = d.event_created_at`,
  );
}
