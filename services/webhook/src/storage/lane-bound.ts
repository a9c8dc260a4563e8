import { type Database, statementsOf } from "@brand-records/postgres";

/**
 * The bound of a lane: no pending delivery has a smaller (due_at, id). Claims begin to read there, because the index keeps the entries of
 * deliveries that are gone while an older snapshot is open, such as a dump's: 200,000 of them take half a second.
 *
 * Columns of `webhook.lanes`:
 *
 * - `next_due`: no pending delivery is due before it; infinity if there is none. Claims look at a lane from then on.
 * - `bound_due`, `bound_id`: if `bound_due` equals `next_due`, no pending delivery of that time has a smaller id. Else the id says nothing.
 * - `walks`, `arrived_due`: walks of `passDeadEntries`, and the least `due_at` that arrived since the last one began.
 *
 * Each change of them holds the lane's lock:
 *
 * - What makes a delivery pending, or due earlier, lowers the bound, with `dueBy`. Otherwise no claim would find that delivery.
 * - A claim raises it to the first delivery that it leaves, in a snapshot taken after the lock (CLAIM in claims.ts).
 * - `passDeadEntries` raises it to the first pending delivery, or the first that arrived during its walk.
 *
 * Removing a delivery changes nothing: the next claim raises the bound.
 */
export const BOUND = "(l.next_due, case when l.bound_due = l.next_due then l.bound_id else '' end)";

/**
 * SQL assignments to a lane `l` in which a delivery became pending, due at `time`. The id no longer bounds if that delivery may come
 * before it.
 *
 * @param time SQL; null if there is none
 */
export const dueBy = (time: string): string => `
         next_due = least(l.next_due, ${time}), arrived_due = least(l.arrived_due, ${time}),
         bound_due = case when l.next_due >= ${time} then '-infinity' else l.bound_due end`;

const MOVED_DUE = "least(l.arrived_due, $3::timestamptz)";
const MOVED_ID = "case when l.arrived_due <= $3::timestamptz then '' else $4 end";

const statements = statementsOf("claim_bounds", {
  begin: "update webhook.lanes set walks = walks + 1, arrived_due = 'infinity' where receiver_id = $1 returning walks",
  /** Times are text here: a parsed one would lose its microseconds. */
  first: `select coalesce(d.due_at, 'infinity')::text as due, coalesce(d.id, '') as id
             from webhook.lanes l
             left join lateral (select due_at, id from webhook.deliveries
                                 where receiver_id = l.receiver_id and state = 'pending' and (due_at, id) >= ${BOUND}
                                 order by due_at, id limit 1) d on true
            where l.receiver_id = $1`,
  /** To the delivery that was found, or to the first that arrived since if that may come before it. Another walk has forgotten those. */
  move: `update webhook.lanes l set next_due = ${MOVED_DUE}, bound_due = ${MOVED_DUE}, bound_id = ${MOVED_ID}
            where l.receiver_id = $1 and l.walks = $2 and ${BOUND} < (${MOVED_DUE}, ${MOVED_ID})`,
});

/**
 * Moves the bound of a lane over the index entries of deliveries that are gone. The lane is locked at the beginning and for the move, and not
 * for the walk between, which takes as long as there are entries.
 */
export async function passDeadEntries(db: Database, receiverId: string): Promise<void> {
  const [begun] = await db.query<{ walks: number }>(statements.begin, [receiverId]);
  const [first] = await db.query<{ due: string; id: string }>(statements.first, [receiverId]);
  if (begun === undefined || first === undefined) return;
  await db.query(statements.move, [receiverId, begun.walks, first.due, first.id]);
}
