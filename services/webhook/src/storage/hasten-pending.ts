import type { Database, Sql, Statement } from "@brand-records/postgres";
import type { ReceiverKey } from "../domain/receiver.ts";
import { lockLane, wakeLanes } from "./lanes.ts";

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
    }
  };
  // Again after a long walk: an attempt that failed meanwhile may have left its delivery behind it.
  while ((await walk()) >= chunkRows);
}
