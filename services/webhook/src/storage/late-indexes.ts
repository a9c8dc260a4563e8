import { asIndexBuilder, buildIndex, unnestRows, type Database, type LateIndex, type Sql } from "@brand-records/postgres";

/** Attaching an index waits for readers of the table, and new readers for it. The next round retries. */
const LOCK_WAIT = "500ms";

/** An index that a migration defines and that is not built yet. */
interface MissingIndex extends LateIndex {
  /** The index of the parent table; null if the table is not partitioned. */
  readonly parent: string | null;
  /** A build was interrupted. */
  readonly is_invalid: boolean;
  /** It is built and only needs to be attached. */
  readonly is_valid: boolean;
}

/**
 * A condition that pending deliveries meet, on columns of `webhook.deliveries`. Queries that need an index of `OF_DELIVERIES` add it to
 * `state = 'pending'`. Claims must not: the planner would use these indexes for them, too. Misled by dead rows, it read one
 * whole for each lane, 3.2 million buffers and 2.2 s with 16 lanes locked.
 */
export const UNLEASED = "lease is null";

/** The table without partitions: its indexes for lists of pending deliveries. Those being sent are few and have none. */
const OF_DELIVERIES = {
  deliveries_unleased_newest: `using btree (receiver_id, id desc) where ${UNLEASED}`,
  deliveries_unleased_of_event: `using btree (event_id) where ${UNLEASED}`,
  deliveries_unleased_of_type: `using btree (receiver_id, event_type, id desc) where ${UNLEASED}`,
};

/** Their predecessors, with a predicate that claims imply. */
const REPLACED = ["deliveries_newest", "deliveries_of_event", "deliveries_of_type"];

const DEFINED = unnestRows({ name: "text", definition: "text" }, { as: "o" });

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
    select o.name, 'webhook.deliveries', o.definition, null from ${DEFINED.relation})
  select w.*, x.indisvalid is false as is_invalid, x.indisvalid is true as is_valid
    from wanted w left join pg_index x on x.indexrelid = to_regclass('webhook.' || w.name)
   where w.parent is not null or x.indisvalid is not true
   order by w.table desc, w.name`;

const missingIndexes = (db: Sql): Promise<MissingIndex[]> =>
  db.query<MissingIndex>(MISSING, DEFINED.values(Object.entries(OF_DELIVERIES).map(([name, definition]) => ({ name, definition }))));

/**
 * Builds the indexes that a migration defined for tables with rows, while these are read and written. Until then lists with filters
 * are complete and slower. Drops the indexes that they replace as soon as it can. Safe to run in any number of processes: one of them builds.
 * Continues after an interruption.
 *
 * @returns the names of the indexes it built
 */
export async function buildLateIndexes(db: Database, url: string): Promise<string[]> {
  if ((await missingIndexes(db)).length === 0 && (await replacedIndexes(db)).length === 0) return [];
  const built = await asIndexBuilder(url, "webhook", async (builder) => {
    const missing = await missingIndexes(builder);
    const ofDeliveries = missing.filter(({ parent }) => parent === null);
    for (const index of ofDeliveries) await build(builder, index);
    for (const name of await replacedIndexes(builder)) await builder.query(`drop index concurrently if exists webhook.${name}`);
    for (const index of missing) if (index.parent !== null) await build(builder, index);
    return missing.map(({ name }) => name);
  });
  return built ?? [];
}

const NAMES = unnestRows({ name: "text" });

async function replacedIndexes(db: Sql): Promise<string[]> {
  const found = await db.query<{ name: string }>(
    `select name from ${NAMES.relation} where to_regclass('webhook.' || name) is not null`,
    NAMES.values(REPLACED.map((name) => ({ name }))),
  );
  return found.map(({ name }) => name);
}

async function build(db: Sql, index: MissingIndex): Promise<void> {
  const { name, parent, is_valid } = index;
  if (!is_valid) await buildIndex(db, "webhook", index);
  if (parent === null) return;
  await db.query(`set lock_timeout = '${LOCK_WAIT}'`);
  await db.query(`alter index ${parent} attach partition webhook.${name}`);
  await db.query("reset lock_timeout");
}
