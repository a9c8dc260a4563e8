import type { Database } from "@brand-records/postgres";
import { BOUND } from "./lanes.ts";
import { statementsOf } from "./statements.ts";

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
 * Moves the lower bound of a lane over the index entries of deliveries that are gone. The lane is locked at the beginning and for the move,
 * and not for the walk between, which takes as long as there are entries: half a second for 200,000 on a busy machine.
 */
export async function passDeadEntries(db: Database, receiverId: string): Promise<void> {
  const [begun] = await db.query<{ walks: number }>(statements.begin, [receiverId]);
  const [first] = await db.query<{ due: string; id: string }>(statements.first, [receiverId]);
  if (begun === undefined || first === undefined) return;
  await db.query(statements.move, [receiverId, begun.walks, first.due, first.id]);
}
