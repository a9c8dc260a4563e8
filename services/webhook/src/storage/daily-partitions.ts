import type { Database } from "@brand-records/postgres";

const CHUNK_ROWS = 10_000;

/** Creates the partitions of these days (YYYY-MM-DD, UTC). Must not run in a transaction: it would lock the new tables until its end. */
export async function ensureDays(db: Database, days: readonly string[]): Promise<void> {
  for (const day of days) await db.query("select webhook.ensure_day($1::date)", [day]);
}

/** Returns the days (YYYY-MM-DD), oldest first, that have partitions and ended more than `keepDays` ago. */
async function daysToDrop(db: Database, keepDays: number): Promise<string[]> {
  const rows = await db.query<{ day: string }>(
    `select to_char(to_date(right(c.relname, 8), 'YYYYMMDD'), 'YYYY-MM-DD') as day
       from pg_inherits i
       join pg_class c on c.oid = i.inhrelid
       join pg_class p on p.oid = i.inhparent
      where p.oid in ('webhook.events'::regclass, 'webhook.past_deliveries'::regclass, 'webhook.attempts'::regclass)
        and to_date(right(c.relname, 8), 'YYYYMMDD') < (now() at time zone 'UTC')::date - $1::int
      group by 1 order by 1`,
    [keepDays],
  );
  return rows.map(({ day }) => day);
}

/**
 * Drops events that are older than `keepDays` whole days, with their deliveries and attempts. This includes deliveries that
 * are still pending, because their receiver was disabled all that time. Safe to run anywhere, any number of times; after an
 * interruption the next call continues.
 *
 * @returns the days that were dropped
 */
export async function dropOldDays(db: Database, keepDays: number): Promise<string[]> {
  const dropped: string[] = [];
  for (const day of await daysToDrop(db, keepDays)) {
    // Come before the events: no delivery may outlive its event.
    await deletePendingUntil(db, day);
    // The results of attempts in flight must still be written, into the day's partitions. The next round drops the day.
    if (await hasAttemptsInFlight(db, day)) continue;
    // Fails if a reader keeps a table for a tenth of a second, or another process tries. A later round retries.
    await db.query("select webhook.drop_day($1::date)", [day]);
    dropped.push(day);
  }
  return dropped;
}

async function deletePendingUntil(db: Database, day: string): Promise<void> {
  let rows: unknown[];
  do {
    rows = await db.query(
      `delete from webhook.deliveries where id = any(array(
         select id from webhook.deliveries
          where state = 'pending' and event_created_at < (($1::date + 1)::timestamp at time zone 'UTC') limit ${CHUNK_ROWS} for update skip locked))
       returning 1`,
      [day],
    );
  } while (rows.length === CHUNK_ROWS);
}

/** Ignores expired leases: their workers died, so no result will be written. */
async function hasAttemptsInFlight(db: Database, day: string): Promise<boolean> {
  const rows = await db.query(
    `select from webhook.deliveries
      where state = 'sending' and lease_until >= now() and event_created_at < (($1::date + 1)::timestamp at time zone 'UTC') limit 1`,
    [day],
  );
  return rows.length > 0;
}
