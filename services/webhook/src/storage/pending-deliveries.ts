import { type Database, type Sql, type Statement, statementsOf } from "@brand-records/postgres";
import type { ReceiverKey } from "../domain/receiver.ts";
import { lockLane, wakeLanes } from "./lanes.ts";

/** Removed in one transaction. It takes 15 ms, during which other statements wait for these rows. */
const DROP_CHUNK_ROWS = 2_500;

/** How work on many rows goes on, a chunk in each transaction. */
export interface ChunkOptions {
  readonly chunkRows?: number;
  /** Resolves when the next chunk may begin. Default: at once. */
  readonly turn?: () => Promise<void>;
}

const statements = statementsOf("held_deliveries", {
  now: "select clock_timestamp()::timestamptz(3) as now",
  /** Steps from receiver to receiver along the index, without reading the deliveries in between. */
  orphaned: `with recursive waiting as (
             (select d.receiver_id from webhook.deliveries d where d.state = 'pending' order by d.receiver_id limit 1)
             union all
             select (select d.receiver_id from webhook.deliveries d
                      where d.state = 'pending' and d.receiver_id > w.receiver_id
                      order by d.receiver_id limit 1)
               from waiting w where w.receiver_id is not null)
           select w.receiver_id from waiting w
            where w.receiver_id is not null and not exists (select from webhook.receivers r where r.id = w.receiver_id)`,
});

/**
 * Drops deliveries, with what receivers answered to them, only while their lane is held or deleted: once the receiver is enabled, the rest
 * is sent. Rows are locked in index order, and rows that others removed meanwhile do not count towards the limit. So any number of callers
 * may run at the same time, and each continues until nothing is left.
 *
 * "= any(array(…))": a generic plan of a join scans the table.
 */
const dropChunk = (rows: number): Statement => ({
  name: `held_deliveries.drop_chunk_${rows}`,
  text: `with dropped as (
           delete from webhook.deliveries where id = any(array(
             select d.id from webhook.deliveries d
              where d.receiver_id = $1 and d.state = 'pending' and d.created_at <= $2::timestamptz
                and not exists (select from webhook.lanes l where l.receiver_id = $1 and not l.held)
              order by d.due_at, d.id
              limit ${rows}
                for update of d))
           returning id, attempt),
         tried as (delete from webhook.attempts where delivery_id = any(array(select id from dropped where attempt > 0)))
         select count(*) as dropped from dropped`,
});

/** Returns the database's time, comparable with `created_at` of deliveries. */
export async function databaseTime(sql: Sql): Promise<string> {
  const [row] = await sql.query<{ now: string }>(statements.now);
  if (row === undefined) throw new Error("the database returned no time");
  return row.now;
}

interface DropOptions extends ChunkOptions {
  /** `created_at` of the last delivery to drop. Default: no bound. */
  readonly createdUntil?: string;
}

/**
 * Drops the pending deliveries of a receiver whose lane is held or deleted, in chunks of one transaction each. Locks neither
 * lane nor receiver.
 *
 * @returns how many, without those that a worker is sending
 */
export async function dropPending(
  db: Database,
  receiverId: string,
  { createdUntil = "infinity", chunkRows = DROP_CHUNK_ROWS, turn }: DropOptions = {},
): Promise<number> {
  for (let dropped = 0; ;) {
    const [row] = await db.query<{ dropped: number }>(dropChunk(chunkRows), [receiverId, createdUntil]);
    const chunk = row?.dropped ?? 0;
    dropped += chunk;
    if (chunk < chunkRows) return dropped;
    await turn?.();
  }
}

export async function orphanedReceiverIds(sql: Sql): Promise<string[]> {
  return (await sql.query<{ receiver_id: string }>(statements.orphaned)).map(({ receiver_id }) => receiver_id);
}

/** Made due in one transaction, which takes 40 ms, during which the receiver's lane is locked. */
const HASTEN_CHUNK_ROWS = 2_000;

/**
 * They all become due at one time, so they are sent in the order of their ids. A row that is due by then is left as it is. It begins behind
 * the last row of the chunk before: entries of what that chunk moved may stay in the index for as long as an older snapshot is open.
 */
const hastenChunk = (rows: number): Statement => ({
  name: `hasten_pending.chunk_${rows}`,
  text: `with found as materialized (
           select d.id, d.due_at from webhook.deliveries d
            where d.receiver_id = $1 and d.state = 'pending' and d.created_at <= $2::timestamptz and (d.due_at, d.id) > ($3::timestamptz, $4)
            order by d.due_at, d.id
            limit ${rows}
              for update of d),
         hastened as (update webhook.deliveries set due_at = $2::timestamptz where id = any(array(select id from found)))
         select (select count(*) from found) as hastened, f.due_at::text as due, f.id from found f order by f.due_at desc, f.id desc limit 1`,
});

interface Position {
  readonly due: string;
  readonly id: string;
}

/**
 * Makes every pending delivery of a receiver due that was created by `now`, in chunks of one transaction each. A repeat continues after an
 * interruption.
 *
 * @param now the database's time
 */
export async function hastenPending(
  db: Database,
  key: ReceiverKey,
  now: string,
  { chunkRows = HASTEN_CHUNK_ROWS, turn }: ChunkOptions = {},
): Promise<void> {
  const chunk = async (sql: Sql, { due, id }: Position): Promise<(Position & { readonly hastened: number }) | undefined> => {
    // Deleted meanwhile.
    if (!(await lockLane(sql, key))) return undefined;
    const [last] = await sql.query<Position & { hastened: number }>(hastenChunk(chunkRows), [key.receiverId, now, due, id]);
    if (last !== undefined) await wakeLanes(sql, [key.receiverId], now);
    return last;
  };
  // Behind every id of the time, thus before what is due later.
  const start: Position = { due: now, id: "~" };
  const walk = async (): Promise<number> => {
    let hastened = 0;
    for (let from = start; ;) {
      const begin = from;
      const last = await db.transaction((sql) => chunk(sql, begin));
      hastened += last?.hastened ?? 0;
      if (last === undefined || last.hastened < chunkRows) return hastened;
      from = last;
      await turn?.();
    }
  };
  // Again after a long walk: an attempt that failed meanwhile may have left its delivery behind it.
  while ((await walk()) >= chunkRows);
}
