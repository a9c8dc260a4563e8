import { unnestRows, type Sql, type Statement } from "@brand-records/postgres";
import type { MinuteUsage, UsageBucket, UsageQuery } from "../domain/usage.ts";

const ADDED = unnestRows(
  { brand_id: "text", minute: "timestamptz", key_id: "text", accepted: "bigint", refused: "bigint" },
  { as: "added", after: 2 },
);

const START = "date_bin(make_interval(mins => $4), m.minute, $2)";
const IN_RANGE = "(select * from accounts.usage_minutes where brand_id = $1 and minute >= $2 and minute < $3)";

const statements = {
  insertBatch: {
    name: "usage_batches.insert",
    text: "insert into accounts.usage_batches (id) values ($1) on conflict do nothing returning 1",
  },
  // Every gateway's batch locks rows in the same order, so that two never deadlock. Summed first: one statement must not
  // change a row twice.
  add: {
    name: "usage_minutes.add",
    text: `insert into accounts.usage_minutes as u (brand_id, minute, key_id, accepted, refused)
           select added.brand_id, added.minute, added.key_id, sum(added.accepted), sum(added.refused)
             from ${ADDED.relation}
             join accounts.keys k on k.id = added.key_id and k.brand_id = added.brand_id
            where added.minute >= now() - make_interval(days => $1) and added.minute <= now() + make_interval(mins => $2)
            group by 1, 2, 3 order by 1, 2, 3
           on conflict (brand_id, minute, key_id) do update
              set accepted = u.accepted + excluded.accepted, refused = u.refused + excluded.refused`,
  },
  // Summed by minute first: the busiest minute of a brand is not the sum of its keys' busiest minutes.
  buckets: {
    name: "usage_minutes.buckets",
    text: `select ${START} as start, null as key_id,
                  sum(m.accepted)::bigint as accepted, sum(m.refused)::bigint as refused, max(m.accepted)::bigint as peak_accepted
             from (select minute, sum(accepted) as accepted, sum(refused) as refused from ${IN_RANGE} k group by 1) m
            group by 1 order by 1 limit $5`,
  },
  // A key has one row a minute.
  bucketsByKey: {
    name: "usage_minutes.buckets_by_key",
    text: `select ${START} as start, m.key_id,
                  sum(m.accepted)::bigint as accepted, sum(m.refused)::bigint as refused, max(m.accepted) as peak_accepted
             from ${IN_RANGE} m group by 1, 2 order by 1, 2 limit $5`,
  },
  deleteOld: {
    name: "usage_minutes.delete_old",
    text: `delete from accounts.usage_minutes u using (
             select brand_id, minute, key_id from accounts.usage_minutes where minute < now() - make_interval(days => $1)
              order by minute limit $2 for update skip locked) old
            where (u.brand_id, u.minute, u.key_id) = (old.brand_id, old.minute, old.key_id) returning 1`,
  },
  deleteOldBatches: {
    name: "usage_batches.delete_old",
    text: `delete from accounts.usage_batches where id = any(array(
             select id from accounts.usage_batches where recorded_at < now() - make_interval(days => $1)
              limit $2 for update skip locked)) returning 1`,
  },
} satisfies Record<string, Statement>;

/** Returns false if the batch is recorded. Waits for a transaction that is recording it. */
export async function insertUsageBatch(sql: Sql, id: string): Promise<boolean> {
  return (await sql.query(statements.insertBatch, [id])).length > 0;
}

/** Counts are kept for times from `keepDays` ago to `minutesAhead` from now. */
export interface KeptUsage {
  readonly keepDays: number;
  readonly minutesAhead: number;
}

/** Adds counts of keys that their brand has, for minutes that are kept; ignores all others. */
export async function addUsage(sql: Sql, minutes: readonly MinuteUsage[], { keepDays, minutesAhead }: KeptUsage): Promise<void> {
  await sql.query(statements.add, [keepDays, minutesAhead, ...ADDED.values(minutes)]);
}

export function usageBuckets(sql: Sql, { brandId, from, to, bucketMinutes, byKey }: UsageQuery, limit: number): Promise<UsageBucket[]> {
  return sql.query<UsageBucket>(byKey ? statements.bucketsByKey : statements.buckets, [brandId, from, to, bucketMinutes, limit]);
}

/** Deletes up to `limit` counts that are older than `days`. Returns how many. */
export async function deleteOldUsage(sql: Sql, days: number, limit: number): Promise<number> {
  return (await sql.query(statements.deleteOld, [days, limit])).length;
}

/** Deletes up to `limit` ids of batches that are older than `days`. Returns how many. */
export async function deleteOldBatches(sql: Sql, days: number, limit: number): Promise<number> {
  return (await sql.query(statements.deleteOldBatches, [days, limit])).length;
}
