import type { Sql, Statement } from "@brand-records/postgres";
import type { Receiver, ReceiverKey } from "../domain/receiver.ts";
import type { NewReceiver, ReceiverChange } from "../domain/receiver-fields.ts";
import type { SealedSecret } from "../domain/signing-secret.ts";

/**
 * Of one receiver so many are counted and no more: 20 ms. Those of a receiver that was down for a week may be millions, and
 * the list of receivers must come all the same.
 */
export const WAITING_COUNTED_MAX = 100_000;

/**
 * Everything but the secret. The order keeps the count to its index: without, where one receiver had most of the table, all
 * of it was read for every other.
 */
const COLUMNS = `r.id, r.brand_id, r.url, r.label, r.events, r.enabled, r.disabled_reason, r.disabled_at, l.last_status,
  l.last_delivery_at, l.failures, r.created_at, r.updated_at, r.max_in_flight, r.next_secret is not null as rotating,
  (select count(*) from (select from webhook.deliveries d where d.receiver_id = r.id and d.state = 'pending'
     order by d.due_at, d.id limit ${WAITING_COUNTED_MAX}) w) as waiting`;

const statements = {
  knowBrand: {
    name: "receivers.know_brand",
    text: "insert into webhook.brands (brand_id) values ($1) on conflict (brand_id) do nothing",
  },
  holdBrand: { name: "receivers.hold_brand", text: "select from webhook.brands b where b.brand_id = $1 for no key update" },
  /** With the time of day rather than of the transaction, which began before it waited for the brand. */
  insert: {
    name: "receivers.insert",
    text: `insert into webhook.receivers (brand_id, id, url, label, events, secret, secret_key_id, created_at, updated_at)
           select $1, $2, $3, $4, $5::text[], $6::bytea, $7::int, now, now from clock_timestamp() now
           on conflict (brand_id, url) do nothing returning id`,
  },
  insertLane: { name: "receivers.insert_lane", text: "insert into webhook.lanes (receiver_id) values ($1)" },
  count: { name: "receivers.count", text: "select count(*) from webhook.receivers r where r.brand_id = $1" },
  find: {
    name: "receivers.find",
    text: `select ${COLUMNS} from webhook.receivers r join webhook.lanes l on l.receiver_id = r.id where r.brand_id = $1 and r.id = $2`,
  },
  list: {
    name: "receivers.list",
    text: `select ${COLUMNS} from webhook.receivers r join webhook.lanes l on l.receiver_id = r.id where r.brand_id = $1 order by r.created_at, r.id`,
  },
  change: {
    name: "receivers.change",
    text: `update webhook.receivers r
              set url = coalesce($3, r.url), label = coalesce($4, r.label), events = coalesce($5::text[], r.events),
                  max_in_flight = coalesce($6::int, r.max_in_flight), updated_at = clock_timestamp()
            where r.brand_id = $1 and r.id = $2`,
  },
  disable: {
    name: "receivers.disable",
    text: `update webhook.receivers r
              set enabled = false, disabled_reason = $3, disabled_at = now, updated_at = now
             from clock_timestamp() now
            where r.brand_id = $1 and r.id = $2 and r.enabled returning r.id`,
  },
  enable: {
    name: "receivers.enable",
    text: `update webhook.receivers r
              set enabled = true, disabled_reason = null, disabled_at = null, updated_at = clock_timestamp()
            where r.brand_id = $1 and r.id = $2 and not r.enabled returning r.id`,
  },
  remove: { name: "receivers.remove", text: "delete from webhook.receivers r where r.brand_id = $1 and r.id = $2 returning r.id" },
  lockLane: {
    name: "receivers.lock_lane",
    text: `select from webhook.lanes l join webhook.receivers r on r.id = l.receiver_id
            where r.brand_id = $1 and r.id = $2 for update of l`,
  },
  holdLane: { name: "receivers.hold_lane", text: "update webhook.lanes set held = true where receiver_id = $1" },
  /** What a lane has reached above it comes down at once; below it the lane goes on growing as attempts succeed. */
  limitLane: {
    name: "receivers.limit_lane",
    text: "update webhook.lanes set max_in_flight = $2::int where receiver_id = $1 and max_in_flight > $2::int",
  },
  /**
   * Under a snapshot taken after the lane was locked: a delivery that came before it is seen. Breaker and failure clock start
   * anew, for somebody has looked at the receiver; the figure that people see stays.
   */
  releaseLane: {
    name: "receivers.release_lane",
    text: `update webhook.lanes l
              set held = false, parked_until = '-infinity', parked_at = null, failed_in_a_row = 0, parkings = 0,
                  first_failure_at = null, failing_since = null,
                  next_due = coalesce((select d.due_at from webhook.deliveries d
                                        where d.receiver_id = l.receiver_id and d.state = 'pending'
                                        order by d.due_at limit 1), 'infinity')
            where l.receiver_id = $1`,
  },
  forgetFailures: {
    name: "receivers.forget_failures",
    text: `update webhook.lanes set parked_until = '-infinity', parked_at = null, failed_in_a_row = 0, parkings = 0,
                  first_failure_at = null, failing_since = null, failures = 0 where receiver_id = $1`,
  },
} satisfies Record<string, Statement>;

/** Until the transaction ends nobody else adds receivers of this brand. Accounts must have vouched for it. */
export async function holdBrand(sql: Sql, brandId: string): Promise<void> {
  await sql.query(statements.knowBrand, [brandId]);
  await sql.query(statements.holdBrand, [brandId]);
}

/**
 * With its lane. Answers false, and adds nothing, if the brand has a receiver of that URL. A 21st is for the caller to
 * refuse, who holds the brand.
 */
export async function insertReceiver(
  sql: Sql,
  { brandId, id, url, label, events, sealed, keyId }: NewReceiver & SealedSecret & { readonly id: string },
): Promise<boolean> {
  const inserted = await sql.query(statements.insert, [brandId, id, url, label, events, sealed, keyId]);
  if (inserted.length === 0) return false;
  await sql.query(statements.insertLane, [id]);
  return true;
}

export async function countReceivers(sql: Sql, brandId: string): Promise<number> {
  const [row] = await sql.query<{ count: number }>(statements.count, [brandId]);
  return row?.count ?? 0;
}

export async function findReceiver(sql: Sql, { brandId, receiverId }: ReceiverKey): Promise<Receiver | undefined> {
  const [row] = await sql.query<Receiver>(statements.find, [brandId, receiverId]);
  return row;
}

/** Oldest first. */
export function listReceivers(sql: Sql, brandId: string): Promise<Receiver[]> {
  return sql.query<Receiver>(statements.list, [brandId]);
}

/** @throws a unique violation if another of the brand's receivers has that URL */
export async function changeReceiver(sql: Sql, { brandId, receiverId, url, label, events, maxInFlight }: ReceiverChange): Promise<void> {
  await sql.query(statements.change, [brandId, receiverId, url ?? null, label ?? null, events ?? null, maxInFlight ?? null]);
}

/** Answers false if it was disabled already: then the reason stays what it is. */
export async function disableReceiver(
  sql: Sql,
  { brandId, receiverId }: ReceiverKey,
  reason: NonNullable<Receiver["disabled_reason"]>,
): Promise<boolean> {
  return (await sql.query(statements.disable, [brandId, receiverId, reason])).length > 0;
}

/** Answers false if it was enabled already. */
export async function enableReceiver(sql: Sql, { brandId, receiverId }: ReceiverKey): Promise<boolean> {
  return (await sql.query(statements.enable, [brandId, receiverId])).length > 0;
}

/** With its lane. What waits for it stays, and is sent by nobody. */
export async function deleteReceiver(sql: Sql, { brandId, receiverId }: ReceiverKey): Promise<boolean> {
  return (await sql.query(statements.remove, [brandId, receiverId])).length > 0;
}

/** Until the transaction ends nobody adds deliveries of this receiver or claims any. Answers false if the brand has no such receiver. */
export async function lockLane(sql: Sql, { brandId, receiverId }: ReceiverKey): Promise<boolean> {
  return (await sql.query(statements.lockLane, [brandId, receiverId])).length > 0;
}

/** The lane must be locked. */
export async function holdLane(sql: Sql, receiverId: string): Promise<void> {
  await sql.query(statements.holdLane, [receiverId]);
}

/** The lane must be locked. */
export async function limitLane(sql: Sql, receiverId: string, maxInFlight: number): Promise<void> {
  await sql.query(statements.limitLane, [receiverId, maxInFlight]);
}

/** Due from when its first delivery is. The lane must be locked, by an earlier statement. */
export async function releaseLane(sql: Sql, receiverId: string): Promise<void> {
  await sql.query(statements.releaseLane, [receiverId]);
}

/** Breaker and failure clock start anew. The lane must be locked. */
export async function forgetFailures(sql: Sql, receiverId: string): Promise<void> {
  await sql.query(statements.forgetFailures, [receiverId]);
}
