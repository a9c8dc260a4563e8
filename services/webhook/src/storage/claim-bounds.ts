import type { Database, Sql, Statement } from "@brand-records/postgres";
import { BOUND, dueBy } from "./lanes.ts";

const MOVED_DUE = "least(l.arrived_due, $3::timestamptz)";
const MOVED_ID = "case when l.arrived_due <= $3::timestamptz then '' else $4 end";

const statements = {
  begin: {
    name: "claim_bounds.begin",
    text: "update webhook.lanes set walks = walks + 1, arrived_due = 'infinity' where receiver_id = $1 returning walks",
  },
  /** Times are text here: a parsed one would lose its microseconds. */
  first: {
    name: "claim_bounds.first",
    text: `select coalesce(d.due_at, 'infinity')::text as due, coalesce(d.id, '') as id
             from webhook.lanes l
             left join lateral (select due_at, id from webhook.deliveries
                                 where receiver_id = l.receiver_id and state = 'pending' and (due_at, id) >= ${BOUND}
                                 order by due_at, id limit 1) d on true
            where l.receiver_id = $1`,
  },
  /** To the delivery that was found, or to the first that arrived since if that may come before it. Another walk has forgotten those. */
  move: {
    name: "claim_bounds.move",
    text: `update webhook.lanes l set next_due = ${MOVED_DUE}, bound_due = ${MOVED_DUE}, bound_id = ${MOVED_ID}
            where l.receiver_id = $1 and l.walks = $2 and ${BOUND} < (${MOVED_DUE}, ${MOVED_ID})`,
  },
} satisfies Record<string, Statement>;

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

/** Steps from receiver to receiver, and reads the first pending delivery of each. */
const HIDDEN = `
  with recursive waiting as (
    (select d.receiver_id, d.due_at, d.id from webhook.deliveries d where d.state = 'pending' order by d.receiver_id, d.due_at, d.id limit 1)
    union all
    select n.receiver_id, n.due_at, n.id
      from waiting w cross join lateral (
        select d.receiver_id, d.due_at, d.id from webhook.deliveries d
         where d.state = 'pending' and d.receiver_id > w.receiver_id
         order by d.receiver_id, d.due_at, d.id limit 1) n)
  select w.receiver_id, w.due_at::text as due, w.id
    from waiting w join webhook.lanes l using (receiver_id) where (w.due_at, w.id) < ${BOUND}`;

const LOWER = `
  update webhook.lanes l set ${dueBy("$2::timestamptz")}
   where l.receiver_id = $1 and ($2::timestamptz, $3) < ${BOUND}`;

/**
 * Lowers the bounds of lanes with a pending delivery that comes before them: a process of release 0.3.0 returned claims, or changed a lane
 * while dead entries were passed. A bound that is lower than it need be is right, so the delivery may be gone by then. Each lane is
 * changed by itself: one statement would have to lock them in the order of receiver_id.
 *
 * @returns the ids of the receivers whose lanes were repaired
 */
export async function repairBounds(sql: Sql): Promise<string[]> {
  const hidden = await sql.query<{ receiver_id: string; due: string; id: string }>(HIDDEN);
  for (const { receiver_id, due, id } of hidden) await sql.query(LOWER, [receiver_id, due, id]);
  return hidden.map(({ receiver_id }) => receiver_id);
}
