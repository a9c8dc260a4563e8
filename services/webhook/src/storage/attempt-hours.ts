import { unnestRows, type Sql, statementsOf } from "@brand-records/postgres";
import type { AttemptStats, DeliveryStats } from "../domain/delivery.ts";
import { NO_DURATION, quantile } from "../domain/duration-bucket.ts";

/**
 * Returns SQL that adds attempts to their hours, to use in the statement that records them. Rows are written in one order, so that
 * statements which share rows but no lane, as those of a deleted receiver, wait for each other without a deadlock.
 *
 * @param from relation `r` with receiver_id, started_at, bucket and outcome
 */
export const addToHours = (from: string): string => `
    insert into webhook.attempt_hours as h (receiver_id, hour, bucket, accepted, failed)
    select r.receiver_id, date_trunc('hour', r.started_at, 'UTC'), r.bucket,
           count(*) filter (where r.outcome = 'accepted'), count(*) filter (where r.outcome <> 'accepted')
      from ${from} group by 1, 2, 3 order by 1, 2, 3
    on conflict (receiver_id, hour, bucket) do update set accepted = h.accepted + excluded.accepted, failed = h.failed + excluded.failed`;

const RECEIVERS_MAX = 50;
const OLD_ROWS_MAX = 5_000;
const RECEIVER_IDS = unnestRows({ receiver_id: "text" }, { as: "r" });

const statements = statementsOf("attempt_hours", {
  /** Yields at most 104 rows an hour below 18 s, 75,000 in 30 days. Quantiles are left to the caller: by windows they took 300 ms. */
  hours: `select h.hour, sum(h.accepted) as accepted, sum(h.failed) as failed,
                  coalesce(json_object_agg(h.bucket, h.accepted + h.failed) filter (where h.bucket <> ${NO_DURATION}), '{}') as durations
             from webhook.attempt_hours h where h.receiver_id = $1 and h.hour >= $2::timestamptz and h.hour < $3::timestamptz
            group by h.hour order by h.hour`,
  deleteOf: `delete from webhook.attempt_hours h using (
             select receiver_id, hour, bucket from webhook.attempt_hours where receiver_id = $1
              order by receiver_id, hour, bucket limit $2 for update) old
            where (h.receiver_id, h.hour, h.bucket) = (old.receiver_id, old.hour, old.bucket) returning 1`,
  /** Steps from receiver to receiver along the primary key, without reading the hours in between. */
  orphaned: `with recursive counted as (
             (select h.receiver_id from webhook.attempt_hours h order by h.receiver_id limit 1)
             union all
             select (select h.receiver_id from webhook.attempt_hours h where h.receiver_id > c.receiver_id order by h.receiver_id limit 1)
               from counted c where c.receiver_id is not null)
           select c.receiver_id from counted c
            where c.receiver_id is not null and not exists (select from webhook.receivers r where r.id = c.receiver_id)`,
  receivers: `with recursive counted as (
             (select h.receiver_id from webhook.attempt_hours h where h.receiver_id > $1 order by h.receiver_id limit 1)
             union all
             select (select h.receiver_id from webhook.attempt_hours h where h.receiver_id > c.receiver_id order by h.receiver_id limit 1)
               from counted c where c.receiver_id is not null)
           select c.receiver_id from counted c where c.receiver_id is not null limit ${RECEIVERS_MAX}`,
  /** Reads the start of each receiver's hours. An index on the hour alone would be written with every new hour. */
  deleteOld: `delete from webhook.attempt_hours where ctid = any(array(
             select o.ctid from ${RECEIVER_IDS.relation}, lateral (
               select h.ctid from webhook.attempt_hours h where h.receiver_id = r.receiver_id and h.hour < now() - make_interval(days => $2 + 1)
                order by h.receiver_id, h.hour, h.bucket limit ${OLD_ROWS_MAX} for update skip locked) o
              limit ${OLD_ROWS_MAX})) returning 1`,
  /** No attempt is older than the table. */
  since: "select applied_at::timestamptz(3) as since from webhook.schema_migrations where name = '0002-deliveries.sql'",
});

/** Deletes up to `limit` of a receiver's attempts by hour. Returns how many. */
export async function deleteHoursOf(sql: Sql, receiverId: string, limit: number): Promise<number> {
  return (await sql.query(statements.deleteOf, [receiverId, limit])).length;
}

export async function receiversOfOrphanedHours(sql: Sql): Promise<string[]> {
  return (await sql.query<{ receiver_id: string }>(statements.orphaned)).map(({ receiver_id }) => receiver_id);
}

/** Deletes attempts by hour that are older than `keepDays` whole days and a day. Any number of processes may run it at the same time. */
export async function deleteOldHours(sql: Sql, keepDays: number): Promise<void> {
  let receivers: { readonly receiver_id: string }[] = [];
  do {
    receivers = await sql.query(statements.receivers, [receivers.at(-1)?.receiver_id ?? ""]);
    const values = [...RECEIVER_IDS.values(receivers), keepDays];
    while ((await sql.query(statements.deleteOld, values)).length === OLD_ROWS_MAX);
  } while (receivers.length === RECEIVERS_MAX);
}

interface HourRow {
  readonly hour: string;
  readonly accepted: number;
  readonly failed: number;
  readonly durations: Readonly<Record<string, number>>;
}

/** Returns a receiver's attempts by hour. @param from and `to`: RFC 3339, whole hours */
export async function deliveryStats(sql: Sql, receiverId: string, from: string, to: string): Promise<DeliveryStats> {
  const rows = await sql.query<HourRow>(statements.hours, [receiverId, from, to]);
  const [counted] = await sql.query<{ since: string }>(statements.since);
  if (counted === undefined) throw new Error("the migration of attempt_hours is not recorded");
  return { hours: rows.map((row) => ({ hour: row.hour, stats: statsOf([row]) })), total: statsOf(rows), counted_since: counted.since };
}

function statsOf(rows: readonly HourRow[]): AttemptStats {
  const counts = new Map<number, number>();
  for (const { durations } of rows) {
    for (const [bucket, count] of Object.entries(durations)) counts.set(Number(bucket), (counts.get(Number(bucket)) ?? 0) + count);
  }
  return {
    accepted: rows.reduce((sum, { accepted }) => sum + accepted, 0),
    failed: rows.reduce((sum, { failed }) => sum + failed, 0),
    p50_ms: quantile(counts, 0.5),
    p95_ms: quantile(counts, 0.95),
  };
}
