import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "@brand-records/postgres";

export interface ReceiverStates {
  readonly enabled: number;
  readonly disabled: number;
  /** Enabled, with an attempt in the last hour. */
  readonly attempted: number;
  readonly failing: number;
  readonly open: number;
  /** How long the delivery waits that a sender could have sent longest ago, and does not claim now; 0 if there is none. */
  readonly oldest_due_seconds: number;
}

/** One scan of the lanes: 10,000 take 7 ms. A lane is held if and only if its receiver is disabled. */
const COUNTS = `
  select count(*) filter (where not l.held) as enabled, count(*) filter (where l.held) as disabled,
         count(*) filter (where not l.held and l.last_delivery_at > now() - interval '1 hour') as attempted,
         count(*) filter (where not l.held and l.last_delivery_at > now() - interval '1 hour' and l.failed_in_a_row > 0) as failing,
         count(*) filter (where not l.held and l.open_until > now()) as open
    from webhook.lanes l`;

/** Bound for one pass. With a million pending deliveries, 800 lanes take 19 ms and 10,000 take 150 to 400 ms. The rest were served more recently. */
const LANES_MAX = 2_000;

/** A sender claims again within milliseconds of a result. */
const CLAIMED_WITHIN_MS = 250;

/**
 * The first pending delivery of each lane that a sender would serve now: not held, circuit closed, last attempt successful, and with
 * room. Those of a receiver that fails, or that is slower than its events, wait for the receiver and not for us.
 */
const FIRST_DUE = `
  select d.id, extract(epoch from now() - d.due_at)::float8 as seconds
    from (select l.receiver_id from webhook.lanes l
           where l.next_due < 'infinity' and not l.held and l.next_due <= now() and l.open_until <= now()
             and l.failed_in_a_row = 0 and l.in_flight < l.max_in_flight
           order by l.last_served limit ${LANES_MAX}) l
   cross join lateral (
     select d.id, d.due_at from webhook.deliveries d
      where d.receiver_id = l.receiver_id and d.state = 'pending' order by d.due_at, d.id limit 1) d
   where d.due_at <= now()`;

interface DueDelivery {
  readonly id: string;
  readonly seconds: number;
}

/**
 * Looks twice: the lane of a slow receiver, too, has room from a result to the next claim. Its first delivery is then claimed at the
 * second look. With too few senders it still waits, however recently they served the lane.
 */
async function oldestDueSeconds(sql: Sql): Promise<number> {
  const first = await sql.query<DueDelivery>(FIRST_DUE);
  if (first.length === 0) return 0;
  await sleep(CLAIMED_WITHIN_MS);
  const ids = new Set(first.map(({ id }) => id));
  const waiting = (await sql.query<DueDelivery>(FIRST_DUE)).filter(({ id }) => ids.has(id));
  return Math.max(0, ...waiting.map(({ seconds }) => seconds));
}

export async function receiverStates(sql: Sql): Promise<ReceiverStates> {
  const [counts] = await sql.query<Omit<ReceiverStates, "oldest_due_seconds">>(COUNTS);
  if (counts === undefined) throw new Error("the states of receivers returned no row");
  return { ...counts, oldest_due_seconds: await oldestDueSeconds(sql) };
}
