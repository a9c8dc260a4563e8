import type { Database } from "@brand-records/postgres";

const CHUNK_ROWS = 10_000;
/** Dropping a partition waits for all readers of its table, and everybody else for it: rather another time. */
const LOCK_WAIT = "500ms";
const DEAD_LETTER_DAYS = 90;

interface Day {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly tables: string[];
}

/** Days, oldest first, that have partitions and are over for more than `keepDays`. */
function daysToDrop(db: Database, keepDays: number): Promise<Day[]> {
  return db.query<Day>(
    `select to_char(to_date(right(c.relname, 8), 'YYYYMMDD'), 'YYYY-MM-DD') as day, array_agg(c.oid::regclass::text order by p.relname) as tables
       from pg_inherits i
       join pg_class c on c.oid = i.inhrelid
       join pg_class p on p.oid = i.inhparent
      where p.oid in ('webhook.events'::regclass, 'webhook.past_deliveries'::regclass, 'webhook.attempts'::regclass)
        and to_date(right(c.relname, 8), 'YYYYMMDD') < (now() at time zone 'UTC')::date - $1::int
      group by 1 order by 1`,
    [keepDays],
  );
}

/**
 * Drops what is older than `keepDays` whole days: events, deliveries and attempts with them, and what a receiver that was
 * disabled for all that time still had to get. Safe to run anywhere, any number of times; interrupted, the next goes on.
 *
 * @returns the days that were dropped
 */
export async function dropOldDays(db: Database, keepDays: number): Promise<string[]> {
  const dropped: string[] = [];
  for (const { day, tables } of await daysToDrop(db, keepDays)) {
    // First: nothing may be left to be sent of an event that is gone.
    await dropDeliveriesUntil(db, day);
    // What is under way must be written down; the next time, then.
    if (await isBeingSent(db, day)) continue;
    await db.transaction(async (sql) => {
      await sql.query(`set local lock_timeout = '${LOCK_WAIT}'`);
      for (const table of tables) await sql.query(`drop table if exists ${table}`);
    });
    dropped.push(day);
  }
  await db.query(`delete from webhook.dead_letters where dead_lettered_at < now() - make_interval(days => $1)`, [DEAD_LETTER_DAYS]);
  await db.query("delete from webhook.replays where finished_at < now() - make_interval(days => $1)", [keepDays]);
  return dropped;
}

async function dropDeliveriesUntil(db: Database, day: string): Promise<void> {
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

/** An expired lease is no reason to wait: what was under way then has no worker that would write it down. */
async function isBeingSent(db: Database, day: string): Promise<boolean> {
  const rows = await db.query(
    `select from webhook.deliveries
      where state = 'sending' and lease_until >= now() and event_created_at < (($1::date + 1)::timestamp at time zone 'UTC') limit 1`,
    [day],
  );
  return rows.length > 0;
}
