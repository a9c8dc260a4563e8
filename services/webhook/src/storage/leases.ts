import type { Database, Sql } from "@brand-records/postgres";

/** Rows of one transaction. */
const CHUNK = 1_000;

/** A delivery whose lease ended without a result. */
export interface ExpiredDelivery {
  readonly id: string;
  readonly lease: string;
  readonly receiver_id: string;
  readonly event_id: string;
  readonly event_created_at: string;
  readonly created_at: string;
  readonly lease_until: string;
  /** The one that was under way. */
  readonly attempt: number;
  readonly test: boolean;
  readonly brand_id: string;
  /** Its event is still stored: without it there is nothing to send, and no partition for its attempts. */
  readonly kept: boolean;
}

const EXPIRED = "d.state = 'sending' and d.lease_until < now()";
const HAS_LANE = "exists (select from webhook.lanes o where o.receiver_id = d.receiver_id)";

const REMOVE_ORPHANS = `
  delete from webhook.deliveries where id = any(array(
    select d.id from webhook.deliveries d where ${EXPIRED} and not ${HAS_LANE} order by d.lease_until limit $1 for update skip locked))
  returning 1`;

/** Only rows that have a lane count towards the limit: 1,000 rows without one once hid every other row. */
const LOCK_LANES = `
  select l.receiver_id from webhook.lanes l
   where l.receiver_id in (select d.receiver_id from webhook.deliveries d where ${EXPIRED} and ${HAS_LANE} order by d.lease_until limit $1)
   order by l.receiver_id for update`;

const LOCK_EXPIRED = `
  select d.id, d.lease, d.receiver_id, d.event_id, d.event_created_at, d.created_at, d.lease_until, d.attempt, d.test, r.brand_id,
         exists (select from webhook.events e where e.id = d.event_id and e.created_at = d.event_created_at) as kept
    from webhook.deliveries d join webhook.receivers r on r.id = d.receiver_id
   where ${EXPIRED} and d.receiver_id = any($2::text[])
   order by d.lease_until limit $1 for update of d skip locked`;

const LEAVE_LANES = `
  update webhook.lanes l set in_flight = greatest(0, l.in_flight - t.n), next_due = least(l.next_due, now())
    from (select receiver_id, count(*)::int as n from unnest($1::text[]) as t(receiver_id) group by receiver_id) t
   where l.receiver_id = t.receiver_id`;

/**
 * Removes deliveries whose lease ended after their receiver was deleted: no lane claims them, and no receiver gets them.
 *
 * @returns how many, at most 1,000
 */
export async function removeExpiredOrphans(db: Database): Promise<number> {
  return (await db.query(REMOVE_ORPHANS, [CHUNK])).length;
}

/** Locks up to 1,000 deliveries whose lease ended, their lanes first and in the order in which all lanes are locked. */
export async function lockExpired(sql: Sql): Promise<ExpiredDelivery[]> {
  const lanes = await sql.query<{ receiver_id: string }>(LOCK_LANES, [CHUNK]);
  if (lanes.length === 0) return [];
  return sql.query<ExpiredDelivery>(LOCK_EXPIRED, [CHUNK, lanes.map(({ receiver_id }) => receiver_id)]);
}

/** Takes one delivery off its lane for each time the receiver is named; the lane is served next. The lanes must be locked. */
export async function leaveLanes(sql: Sql, receiverIds: readonly string[]): Promise<void> {
  await sql.query(LEAVE_LANES, [receiverIds]);
}

const REMOVE = "delete from webhook.deliveries d where d.id = any($1::text[])";

/** They must be locked. */
export async function removeDeliveries(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.query(REMOVE, [ids]);
}
