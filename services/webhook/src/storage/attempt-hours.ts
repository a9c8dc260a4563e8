import type { Sql, Statement } from "@brand-records/postgres";
import type { DeliveryStats, HourOfAttempts } from "../domain/delivery-stats.ts";
import { durationOf } from "../domain/duration-bucket.ts";

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

/** At most 104 rows an hour below 18 s, 75,000 in 30 days: 60 ms. */
const statements = {
  stats: {
    name: "attempt_hours.stats",
    text: `
      with chosen as materialized (
        select h.hour, h.bucket, h.accepted, h.failed, case when h.bucket >= 0 then h.accepted + h.failed else 0 end as measured
          from webhook.attempt_hours h where h.receiver_id = $1 and h.hour >= $2::timestamptz and h.hour < $3::timestamptz),
      spans as (
        select * from chosen
        union all
        select null, bucket, sum(accepted), sum(failed), sum(measured) from chosen group by bucket),
      ranked as (
        select *, sum(measured) over (partition by hour order by bucket) as reached, sum(measured) over (partition by hour) as all_measured
          from spans)
      select hour, sum(accepted)::bigint as accepted, sum(failed)::bigint as failed,
             min(bucket) filter (where measured > 0 and reached >= 0.50 * all_measured) as p50,
             min(bucket) filter (where measured > 0 and reached >= 0.95 * all_measured) as p95
        from ranked group by hour order by hour nulls last`,
  },
  /** Attempts were counted from this migration on. */
  since: {
    name: "attempt_hours.since",
    text: "select applied_at::timestamptz(3) as since from webhook.schema_migrations where name = '0009-attempt-hours.sql'",
  },
} satisfies Record<string, Statement>;

interface StatsRow {
  /** Null for all hours together. */
  readonly hour: string | null;
  readonly accepted: number;
  readonly failed: number;
  readonly p50: number | null;
  readonly p95: number | null;
}

/** Returns a receiver's attempts by hour. @param from and `to`: RFC 3339, whole hours */
export async function deliveryStats(sql: Sql, receiverId: string, from: string, to: string): Promise<DeliveryStats> {
  const rows = await sql.query<StatsRow>(statements.stats, [receiverId, from, to]);
  const [counted] = await sql.query<{ since: string }>(statements.since);
  if (counted === undefined) throw new Error("the migration of attempt_hours is not recorded");
  const hours = rows.flatMap((row): HourOfAttempts[] => (row.hour === null ? [] : [{ hour: row.hour, stats: statsOf(row) }]));
  const total = rows.find(({ hour }) => hour === null);
  return {
    hours,
    total: total === undefined ? { accepted: 0, failed: 0, p50_ms: null, p95_ms: null } : statsOf(total),
    counted_since: counted.since,
  };
}

const statsOf = ({ accepted, failed, p50, p95 }: StatsRow): HourOfAttempts["stats"] => ({
  accepted,
  failed,
  p50_ms: p50 === null ? null : durationOf(p50),
  p95_ms: p95 === null ? null : durationOf(p95),
});
