import type { Database, Sql, Statement } from "@brand-records/postgres";

/** Removed in one transaction: 60 ms, which is how long whoever wants one of those rows must wait. */
const DROP_CHUNK_ROWS = 10_000;

const statements = {
  now: { name: "held_deliveries.now", text: "select clock_timestamp()::timestamptz(3) as now" },
  /** From receiver to receiver along the index: the deliveries between are not looked at. */
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
 * Only of a lane that is held or gone: once somebody else has enabled the receiver, the rest is theirs to be sent. Locked
 * in index order, and what others have removed meanwhile does not count towards the limit, so any number of these may run
 * at once and each goes on until there is nothing left.
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
           returning 1)
         select count(*) as dropped from dropped`,
});

/** As `created_at` of deliveries is told. */
export async function timeOfDay(sql: Sql): Promise<string> {
  const [row] = await sql.query<{ now: string }>(statements.now);
  if (row === undefined) throw new Error("the time was not answered");
  return row.now;
}

export interface Dropping {
  /** `created_at` of the last to remove; all of them unless set. */
  readonly createdUntil?: string;
  /** Removed in one transaction; 10,000 unless set. */
  readonly chunkRows?: number;
}

/**
 * Removes what waits for a receiver whose lane is held or gone, in transactions of its own. Holds neither lane nor receiver.
 *
 * @returns how many; those under way at a worker are not among them
 */
export async function dropWaiting(
  db: Database,
  receiverId: string,
  { createdUntil = "infinity", chunkRows = DROP_CHUNK_ROWS }: Dropping = {},
): Promise<number> {
  for (let dropped = 0; ;) {
    const [row] = await db.query<{ dropped: number }>(dropChunk(chunkRows), [receiverId, createdUntil]);
    const chunk = row?.dropped ?? 0;
    dropped += chunk;
    if (chunk < chunkRows) return dropped;
  }
}

/** Receivers that are gone and that something waits for. */
export async function orphanedReceiverIds(sql: Sql): Promise<string[]> {
  return (await sql.query<{ receiver_id: string }>(statements.orphaned)).map(({ receiver_id }) => receiver_id);
}
