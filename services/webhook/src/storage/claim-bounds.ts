import type { Database, Sql, Statement } from "@brand-records/postgres";
import { BOUND, dueBy } from "./lanes.ts";

/** A lane's first pending delivery. Times are text here: a parsed one would lose its microseconds. */
interface First {
  readonly arrivals: number;
  readonly due: string;
  readonly id: string;
}

const statements = {
  first: {
    name: "claim_bounds.first",
    text: `select l.arrivals, coalesce(d.due_at, 'infinity')::text as due, coalesce(d.id, '') as id
             from webhook.lanes l
             left join lateral (select due_at, id from webhook.deliveries
                                 where receiver_id = l.receiver_id and state = 'pending' and (due_at, id) >= ${BOUND}
                                 order by due_at, id limit 1) d on true
            where l.receiver_id = $1`,
  },
  /** Nothing became pending meanwhile: then the lane still begins with the delivery that was found, or with a later one. */
  move: {
    name: "claim_bounds.move",
    text: `update webhook.lanes l set next_due = $3::timestamptz, bound_due = $3::timestamptz, bound_id = $4
            where l.receiver_id = $1 and l.arrivals = $2 and ${BOUND} <= ($3::timestamptz, $4) returning l.arrivals`,
  },
} satisfies Record<string, Statement>;

/** A walk over 200,000 entries takes about 0.1 s. */
const WALKS_MAX = 3;

/**
 * Moves the lower bound of a lane over the index entries of deliveries that are gone. The lane is locked for the move alone, not for the
 * walk, which takes as long as there are entries. If deliveries arrive meanwhile, it walks again, and at last leaves the bound.
 */
export async function passDeadEntries(db: Database, receiverId: string): Promise<void> {
  for (let walk = 1; walk <= WALKS_MAX; walk += 1) {
    const [first] = await db.query<First>(statements.first, [receiverId]);
    if (first === undefined) return;
    const { arrivals, due, id } = first;
    const [lane] = await db.query<{ arrivals: number }>(statements.move, [receiverId, arrivals, due, id]);
    if (lane !== undefined) return;
  }
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
