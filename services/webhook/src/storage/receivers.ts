import { type Sql, firstOf, isFound, statementsOf } from "@brand-records/postgres";
import type { NewReceiver, Receiver, ReceiverChange, ReceiverKey } from "../domain/receiver.ts";
import type { SealedSecret } from "../domain/signing-secret.ts";
import { insertLane, PAUSED_UNTIL } from "./lanes.ts";
import type { AttemptResult } from "./results.ts";

/**
 * Waiting deliveries counted for one receiver, at most: 20 ms. A receiver that was down for a week may have millions, and a
 * list of receivers must not wait for the count.
 */
export const WAITING_COUNTED_MAX = 100_000;

/**
 * Everything but the secret. The order keeps the count on its index: without it, where one receiver had most of the table,
 * the count for every other receiver read all of it.
 */
const COLUMNS = `r.id, r.brand_id, r.url, r.label, r.events, r.enabled, r.disabled_reason, r.disabled_at, l.last_status,
  l.last_outcome, l.last_delivery_at, l.failures, ${PAUSED_UNTIL}, l.failed_in_a_row as failures_in_a_row,
  r.created_at, r.updated_at, r.max_in_flight, r.next_secret is not null as rotating, r.next_secret_at, r.next_secret_accepted_at,
  w.waiting, w.waiting_due, l.in_flight`;

const TABLES = `webhook.receivers r join webhook.lanes l on l.receiver_id = r.id cross join lateral (
  select count(*) as waiting, count(*) filter (where p.due_at <= now()) as waiting_due
    from (select d.due_at from webhook.deliveries d where d.receiver_id = r.id and d.state = 'pending'
           order by d.due_at, d.id limit ${WAITING_COUNTED_MAX}) p) w`;

const statements = statementsOf("receivers", {
  /** The clock's time, not the transaction's: the transaction began before it waited for the brand. */
  insert: `insert into webhook.receivers (brand_id, id, url, label, events, secret, secret_key_id, created_at, updated_at)
           select $1, $2, $3, $4, $5::text[], $6::bytea, $7::int, now, now from clock_timestamp() now
           on conflict (brand_id, url) do nothing returning id`,
  count: "select count(*) from webhook.receivers r where r.brand_id = $1",
  find: `select ${COLUMNS} from ${TABLES} where r.brand_id = $1 and r.id = $2`,
  settings: `select r.url, r.events, r.enabled, r.next_secret is not null as rotating
             from webhook.receivers r where r.brand_id = $1 and r.id = $2`,
  list: `select ${COLUMNS} from ${TABLES} where r.brand_id = $1 order by r.created_at, r.id`,
  targets: `select r.id, r.label, r.url, ${PAUSED_UNTIL} from webhook.receivers r join webhook.lanes l on l.receiver_id = r.id where r.brand_id = $1`,
  change: `update webhook.receivers r
              set url = coalesce($3, r.url), label = coalesce($4, r.label), events = coalesce($5::text[], r.events),
                  max_in_flight = coalesce($6::int, r.max_in_flight), updated_at = clock_timestamp()
            where r.brand_id = $1 and r.id = $2
              and (r.url, r.label, r.events, r.max_in_flight)
                  <> (coalesce($3, r.url), coalesce($4, r.label), coalesce($5::text[], r.events), coalesce($6::int, r.max_in_flight))
           returning r.id`,
  disable: `update webhook.receivers r
              set enabled = false, disabled_reason = $2, disabled_at = now, updated_at = now, disables = r.disables + 1
             from clock_timestamp() now
            where r.id = $1 and r.enabled returning r.disabled_at`,
  disableAgain: "update webhook.receivers r set disables = r.disables + 1 where r.id = $1",
  disables: "select r.disables from webhook.receivers r where r.brand_id = $1 and r.id = $2",
  enable: `update webhook.receivers r
              set enabled = true, disabled_reason = null, disabled_at = null, updated_at = clock_timestamp()
            where r.id = $1 and not r.enabled and r.disables = $2 returning r.id`,
  remove: "delete from webhook.receivers r where r.brand_id = $1 and r.id = $2 returning r.id",
  setNextSecret: `update webhook.receivers r
              set next_secret = $3::bytea, next_secret_key_id = $4::int, updated_at = clock_timestamp()
            where r.brand_id = $1 and r.id = $2 and ($5::boolean or r.next_secret is null) returning r.id`,
  activateNextSecret: `update webhook.receivers r
              set secret = r.next_secret, secret_key_id = r.next_secret_key_id, next_secret = null, next_secret_key_id = null,
                  updated_at = clock_timestamp()
            where r.brand_id = $1 and r.id = $2 and r.next_secret is not null
              and ($3::boolean or r.next_secret_accepted_at is not null) returning r.id`,
  /** Keeps the time of the first test. */
  acceptNextSecret: `update webhook.receivers r set next_secret_accepted_at = clock_timestamp()
            where r.id = $1 and r.next_secret = $2::bytea and r.url = $3 and r.next_secret_accepted_at is null`,
});

/**
 * Adds a receiver and its lane. The caller, who has locked the brand, refuses a 21st receiver.
 *
 * @returns false, and adds nothing, if the brand has a receiver with that URL
 */
export async function insertReceiver(
  sql: Sql,
  { brandId, id, url, label, events, sealed, keyId }: NewReceiver & SealedSecret & { readonly id: string },
): Promise<boolean> {
  const inserted = await sql.query(statements.insert, [brandId, id, url, label, events, sealed, keyId]);
  if (inserted.length === 0) return false;
  await insertLane(sql, id);
  return true;
}

export const countReceivers = async (sql: Sql, brandId: string): Promise<number> =>
  (await firstOf(sql.query<{ count: number }>(statements.count, [brandId])))?.count ?? 0;

export const findReceiver = (sql: Sql, { brandId, receiverId }: ReceiverKey): Promise<Receiver | undefined> =>
  firstOf(sql.query<Receiver>(statements.find, [brandId, receiverId]));

export type ReceiverSettings = Pick<Receiver, "url" | "events" | "enabled" | "rotating">;

/** Returns a receiver without its counts, which take up to 20 ms: too long while its lane is locked. */
export const findSettings = (sql: Sql, { brandId, receiverId }: ReceiverKey): Promise<ReceiverSettings | undefined> =>
  firstOf(sql.query<ReceiverSettings>(statements.settings, [brandId, receiverId]));

/** Returns the brand's receivers, oldest first. */
export function listReceivers(sql: Sql, brandId: string): Promise<Receiver[]> {
  return sql.query<Receiver>(statements.list, [brandId]);
}

export type DeliveryTarget = Pick<Receiver, "id" | "label" | "url" | "paused_until">;

export async function deliveryTargets(sql: Sql, brandId: string): Promise<Map<string, DeliveryTarget>> {
  const rows = await sql.query<DeliveryTarget>(statements.targets, [brandId]);
  return new Map(rows.map((target) => [target.id, target]));
}

/** @returns whether something changed @throws a unique violation if another of the brand's receivers has that URL */
export const changeReceiver = (sql: Sql, { brandId, receiverId, url, label, events, maxInFlight }: ReceiverChange): Promise<boolean> =>
  isFound(sql.query(statements.change, [brandId, receiverId, url ?? null, label ?? null, events ?? null, maxInFlight ?? null]));

/** The receiver's lane must be locked. @returns when; undefined if it was already disabled: the reason then stays */
export const disableReceiver = async (
  sql: Sql,
  receiverId: string,
  reason: NonNullable<Receiver["disabled_reason"]>,
): Promise<string | undefined> =>
  (await firstOf(sql.query<{ disabled_at: string }>(statements.disable, [receiverId, reason])))?.disabled_at;

/** Has an enabling that began before leave a disabled receiver disabled. Changes nothing else. The receiver's lane must be locked. */
export const disableAgain = (sql: Sql, receiverId: string): Promise<unknown> => sql.query(statements.disableAgain, [receiverId]);

/** Returns how often a receiver was disabled; undefined if the brand has no such receiver. */
export const disablesOf = async (sql: Sql, { brandId, receiverId }: ReceiverKey): Promise<number | undefined> =>
  (await firstOf(sql.query<{ disables: number }>(statements.disables, [brandId, receiverId])))?.disables;

/**
 * The receiver's lane must be locked.
 *
 * @param disables of `disablesOf`, as it was when the enabling began
 * @returns false if it was already enabled, or was disabled since
 */
export const enableReceiver = (sql: Sql, receiverId: string, disables: number): Promise<boolean> =>
  isFound(sql.query(statements.enable, [receiverId, disables]));

/** Deletes a receiver and its lane. Its deliveries stay, and no worker sends them. */
export const deleteReceiver = (sql: Sql, { brandId, receiverId }: ReceiverKey): Promise<boolean> =>
  isFound(sql.query(statements.remove, [brandId, receiverId]));

/**
 * Sets the next secret. Of several simultaneous calls that do not replace one, one succeeds.
 *
 * @param replace also in place of an earlier one
 * @returns false if there is one that must stay, or no such receiver
 */
export const setNextSecret = (
  sql: Sql,
  { brandId, receiverId }: ReceiverKey,
  { sealed, keyId }: SealedSecret,
  replace: boolean,
): Promise<boolean> => isFound(sql.query(statements.setNextSecret, [brandId, receiverId, sealed, keyId, replace]));

/**
 * Replaces the current secret with the next one, in one step.
 *
 * @param force also if the receiver has not accepted a test signed with it
 * @returns false if there is no next secret to activate, or no such receiver
 */
export const activateNextSecret = (sql: Sql, { brandId, receiverId }: ReceiverKey, force: boolean): Promise<boolean> =>
  isFound(sql.query(statements.activateNextSecret, [brandId, receiverId, force]));

/**
 * Records that the receiver accepted its next secret, which alone signed a request to this URL. Changes nothing if it has another next
 * secret or URL by now.
 */
export const acceptNextSecret = (
  sql: Sql,
  { receiver_id, url, tested_secret }: Pick<AttemptResult, "receiver_id" | "url" | "tested_secret">,
): Promise<unknown> => sql.query(statements.acceptNextSecret, [receiver_id, tested_secret, url]);
