import type { Database } from "@brand-records/postgres";
import { BREAKER_FAILURES } from "../domain/lane.ts";

/** Of one lane at once; fairness comes from serving many lanes a little each. */
export const ROOM_MAX = 16;
const LANES_MAX = 16;

/** A delivery that is ours to attempt until its lease ends, with all that the attempt needs. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly receiver_id: string;
  readonly event_id: string;
  readonly event_created_at: string;
  /** The first is 1. */
  readonly attempt: number;
  readonly lease: string;
  readonly test: boolean;
  readonly created_at: string;
  /** Null if the event is not kept any more, or the receiver is gone. */
  readonly brand_id: string | null;
  readonly type: string;
  readonly data: string;
  readonly traceparent: string | null;
  readonly url: string;
  readonly secret: Buffer;
  readonly secret_key_id: number;
  readonly next_secret: Buffer | null;
  readonly next_secret_key_id: number | null;
  /** The last attempt to its receiver failed. */
  readonly failing: boolean;
}

/**
 * In two statements of one transaction (read committed): the second needs a snapshot taken after the lanes are locked, else
 * a delivery that was committed in between is missed and its lane put to sleep. One of a receiver whose breaker is open is a
 * probe: there is never a second beside it.
 *
 * Planned anew each time: a plan made while the tables were small scans them when they are not.
 */
const CAP = `case when l.failed_in_a_row >= ${BREAKER_FAILURES} or $3 then 1 else l.max_in_flight end`;
const LANES = `
  select l.receiver_id, l.failed_in_a_row > 0 as failing, least(${CAP} - l.in_flight, ${ROOM_MAX}) as room
    from webhook.lanes l
   where l.next_due < 'infinity' and not l.held and l.next_due <= now() and l.parked_until <= now()
     and ($2 or l.failed_in_a_row = 0)
     and l.in_flight < ${CAP}
   order by l.last_served
   limit $1
     for update skip locked`;

const DELIVERIES = `
  with lane as materialized (
    select * from unnest($1::text[], $2::int[]) as t(receiver_id, room)),
  claimed as materialized (
    select d.id, lane.receiver_id
      from lane cross join lateral (
        select id from webhook.deliveries
         where receiver_id = lane.receiver_id and state = 'pending' and due_at <= now()
         order by due_at, id
         limit lane.room
           for update skip locked) d),
  counted as (select receiver_id, count(*)::int as n from claimed group by receiver_id),
  served as (
    update webhook.lanes l
       set in_flight = l.in_flight + coalesce(counted.n, 0),
           last_served = clock_timestamp(),
           -- Of one that has more than it was given room for, as it was; of the others the next that is not ours by now.
           next_due = case when coalesce(counted.n, 0) < lane.room
                           then coalesce((select due_at from webhook.deliveries
                                           where receiver_id = l.receiver_id and state = 'pending' and id <> all(array(select id from claimed))
                                           order by due_at limit 1), 'infinity')
                           else l.next_due end
      from lane left join counted using (receiver_id)
     where l.receiver_id = lane.receiver_id),
  leased as (
    update webhook.deliveries
       set state = 'sending', attempt = attempt + 1, lease = gen_random_uuid(), lease_until = now() + make_interval(secs => $3)
     where id = any(array(select id from claimed))
    returning id, receiver_id, event_id, event_created_at, attempt, lease, test, created_at, due_at)
  select d.id, d.receiver_id, d.event_id, d.event_created_at, d.attempt, d.lease, d.test, d.created_at,
         case when r.id is not null then e.brand_id end as brand_id, e.type, e.data::text, e.traceparent,
         r.url, r.secret, r.secret_key_id, r.next_secret, r.next_secret_key_id
    from leased d
    left join webhook.events e on e.id = d.event_id and e.created_at = d.event_created_at
    left join webhook.receivers r on r.id = d.receiver_id
   order by d.due_at, d.id`;

/**
 * Due deliveries, a few of each of the receivers that were served longest ago, in the order in which each receiver's are
 * due. Safe to run anywhere at once: a delivery goes to one caller, for `leaseSeconds`.
 *
 * @param max about so many; at most this, rounded up to whole lanes
 * @param failing also of receivers whose last attempt failed
 * @param crowded only of receivers with nothing under way, one each: who is slow has taken enough
 */
export async function claimDeliveries(db: Database, { max, leaseSeconds, failing, crowded }: ClaimOptions): Promise<ClaimedDelivery[]> {
  return db.transaction(async (sql) => {
    const lanes = await sql.query<Lane>(LANES, [Math.min(LANES_MAX, Math.ceil(max / ROOM_MAX)), failing, crowded]);
    if (lanes.length === 0) return [];
    const receiverIds = lanes.map(({ receiver_id }) => receiver_id);
    const claimed = await sql.query<ClaimedDelivery>(DELIVERIES, [receiverIds, lanes.map(({ room }) => room), leaseSeconds]);
    const failingIds = new Set(lanes.filter((lane) => lane.failing).map(({ receiver_id }) => receiver_id));
    return claimed.map((delivery) => Object.assign(delivery, { failing: failingIds.has(delivery.receiver_id) }));
  });
}

interface ClaimOptions {
  readonly max: number;
  readonly leaseSeconds: number;
  readonly failing: boolean;
  readonly crowded: boolean;
}

interface Lane {
  readonly receiver_id: string;
  readonly room: number;
  readonly failing: boolean;
}
