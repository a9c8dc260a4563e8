import type { Database, Sql, Statement } from "@brand-records/postgres";
import type { ReceiverKey } from "../domain/receiver.ts";
import { lockLane, wakeLanes } from "./lanes.ts";

/** Made due in one transaction, which takes 40 ms, during which the receiver's lane is locked. */
const HASTEN_CHUNK_ROWS = 2_000;

/** They all become due at one time, so they are sent in the order of their ids. A row that is due by then is left as it is. */
const hastenChunk = (rows: number): Statement => ({
  name: `hasten_pending.chunk_${rows}`,
  text: `with hastened as (
           update webhook.deliveries set due_at = $2::timestamptz where id = any(array(
             select d.id from webhook.deliveries d
              where d.receiver_id = $1 and d.state = 'pending' and d.due_at > $2::timestamptz and d.created_at <= $2::timestamptz
              order by d.due_at, d.id
              limit ${rows}
                for update of d))
           returning 1)
         select count(*) as hastened from hastened`,
});

export interface HastenOptions {
  /** Rows changed in one transaction. Default: 2,000. */
  readonly chunkRows?: number;
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
  { chunkRows = HASTEN_CHUNK_ROWS }: HastenOptions = {},
): Promise<void> {
  const chunk = async (sql: Sql): Promise<number> => {
    // Deleted meanwhile.
    if (!(await lockLane(sql, key))) return 0;
    const [row] = await sql.query<{ hastened: number }>(hastenChunk(chunkRows), [key.receiverId, now]);
    if (row?.hastened) await wakeLanes(sql, [key.receiverId], now);
    return row?.hastened ?? 0;
  };
  while ((await db.transaction(chunk)) === chunkRows);
}
