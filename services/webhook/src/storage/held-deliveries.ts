import type { Database, Sql, Statement } from "@brand-records/postgres";

/** Removed in one transaction. It takes 60 ms, during which other statements wait for these rows. */
const DROP_CHUNK_ROWS = 10_000;

const statements = {
  now: { name: "held_deliveries.now", text: "select clock_timestamp()::timestamptz(3) as now" },
  /** Steps from receiver to receiver along the index, without reading the deliveries in between. */
  orphaned: {
    name: "held_deliveries.orphaned",
    text: `with recursive waiting as (
             (select d.receiver_id from webhook.deliveries d where d.state = 'pending' order by d.receiver_id limit 1)
             union all
             select (select d.receiver_id from webhook.deliveries d
                      where d.state = 'pending' and d.receiver_id > w.receiver_id
                      order by d.receiver_id limit 1)
               from waiting w where w.receiver_id is not null)
           select w.receiver_id from waiting w
            where w.receiver_id is not null and not exists (select from webhook.receivers r where r.id = w.receiver_id)`,
  },
} satisfies Record<string, Statement>;

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

export interface DropOptions {
  /** `created_at` of the last delivery to drop. Default: no bound. */
  readonly createdUntil?: string;
  /** Rows removed in one transaction. Default: 10,000. */
  readonly chunkRows?: number;
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
  { createdUntil = "infinity", chunkRows = DROP_CHUNK_ROWS }: DropOptions = {},
): Promise<number> {
  for (let dropped = 0; ;) {
    const [row] = await db.query<{ dropped: number }>(dropChunk(chunkRows), [receiverId, createdUntil]);
    const chunk = row?.dropped ?? 0;
    dropped += chunk;
    if (chunk < chunkRows) return dropped;
  }
}

/** Returns the ids of deleted receivers that still have pending deliveries. */
export async function orphanedReceiverIds(sql: Sql): Promise<string[]> {
  return (await sql.query<{ receiver_id: string }>(statements.orphaned)).map(({ receiver_id }) => receiver_id);
}
