import type { Database, Sql } from "@brand-records/postgres";
import type { ClaimedDelivery } from "./claims.ts";
import { HAS_LANE, lockLanesOfExpired } from "./lanes.ts";

const CHUNK_ROWS = 1_000;

export interface ExpiredDelivery extends Pick<
  ClaimedDelivery,
  "id" | "lease" | "receiver_id" | "event_id" | "event_created_at" | "created_at" | "attempt" | "test"
> {
  readonly lease_until: string;
  readonly brand_id: string;
  /** Otherwise its event is no longer stored, and there is no partition for its attempts; or its brand is being deleted. */
  readonly is_sendable: boolean;
}

const EXPIRED = "d.state = 'sending' and d.lease_until < now()";

/** Nothing else would lead to the attempts. */
const withAttempts = (condition: string): string => `
  with removed as (delete from webhook.deliveries d where ${condition} returning d.id),
  tried as (delete from webhook.attempts a where a.delivery_id = any(array(select id from removed)))
  select id from removed`;

const REMOVE_ORPHANS = withAttempts(`d.id = any(array(
    select d.id from webhook.deliveries d where ${EXPIRED} and not ${HAS_LANE} order by d.lease_until limit $1 for update skip locked))`);

const REMOVE = withAttempts("d.id = any($1::text[])");

const LOCK_EXPIRED = `
  select d.id, d.lease, d.receiver_id, d.event_id, d.event_created_at, d.created_at, d.lease_until, d.attempt, d.test, r.brand_id,
         b.deletion_started_at is null
           and exists (select from webhook.events e where e.id = d.event_id and e.created_at = d.event_created_at) as is_sendable
    from webhook.deliveries d join webhook.receivers r on r.id = d.receiver_id join webhook.brands b on b.brand_id = r.brand_id
   where ${EXPIRED} and d.receiver_id = any($2::text[])
   order by d.lease_until limit $1 for update of d skip locked`;

/**
 * Removes deliveries whose lease expired and whose receiver was deleted: they have no lane to be claimed from, and no
 * receiver to be sent to. Their earlier attempts go with them.
 *
 * @returns how many, at most 1,000
 */
export async function removeExpiredOrphans(db: Database): Promise<number> {
  return (await db.query(REMOVE_ORPHANS, [CHUNK_ROWS])).length;
}

/** Locks up to 1,000 deliveries whose lease expired. Locks their lanes first. */
export async function lockExpired(sql: Sql): Promise<ExpiredDelivery[]> {
  const receiverIds = await lockLanesOfExpired(sql, EXPIRED, CHUNK_ROWS);
  if (receiverIds.length === 0) return [];
  return sql.query<ExpiredDelivery>(LOCK_EXPIRED, [CHUNK_ROWS, receiverIds]);
}

/** Removes deliveries with their attempts. They must be locked, or their lanes. */
export const removeDeliveries = (sql: Sql, ids: readonly string[]): Promise<unknown> => sql.query(REMOVE, [ids]);
