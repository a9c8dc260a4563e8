import { AppError } from "@brand-records/errors";
import { newId } from "@brand-records/ids";
import { isUniqueViolation, type Database, type Sql } from "@brand-records/postgres";
import type { RecordChange } from "@brand-records/service-runtime";
import type { WebhookDependencies } from "../dependencies.ts";
import {
  duplicateUrl,
  receiverNotFound,
  RECEIVERS_MAX,
  requireReceiver,
  type NewReceiver,
  type Receiver,
  type ReceiverChange,
  type ReceiverKey,
} from "../domain/receiver.ts";
import { newSigningSecret, sealSigningSecret } from "../domain/signing-secret.ts";
import { lockBrand } from "../storage/brands.ts";
import {
  changeReceiver,
  countReceivers,
  deleteReceiver as remove,
  findReceiver,
  findSettings,
  insertReceiver,
  listReceivers,
} from "../storage/receivers.ts";
import { sharedSecretKey } from "./secret-keys.ts";
import { forgetFailures, limitLane, lockLane } from "../storage/lanes.ts";
import { deleteHoursOf, receiversOfOrphanedHours } from "../storage/attempt-hours.ts";
import { dropPending, orphanedReceiverIds, type ChunkOptions } from "../storage/pending-deliveries.ts";

/**
 * Adds a receiver, up to twenty for a brand. The limit is exact, even if several are added at the same time.
 *
 * @returns the receiver and its signing secret, which is never shown again
 * @throws AppError `not_found`, `duplicate_url`, `receiver_limit`, `unavailable`
 */
export async function createReceiver(
  { db, keys, brands }: Pick<WebhookDependencies, "db" | "keys" | "brands">,
  input: NewReceiver,
  record: RecordChange,
): Promise<{ receiver: Receiver; secret: string }> {
  const { brandId } = input;
  if (!(await brands.isKnown(brandId))) throw brandNotFound();
  const id = newId("rcv");
  const secret = newSigningSecret();
  return db.transaction(async (sql) => {
    // The brand's deletion may have begun since.
    if (!(await lockBrand(sql, brandId))) throw brandNotFound();
    const sealed = sealSigningSecret(await sharedSecretKey(sql, keys), id, secret);
    // Checked before the limit: a caller who repeats a call whose response was lost gets `duplicate_url`, which shows that the call
    // succeeded, even if the brand is now at its limit.
    if (!(await insertReceiver(sql, { ...input, id, ...sealed }))) throw duplicateUrl();
    if ((await countReceivers(sql, brandId)) > RECEIVERS_MAX) throw receiverLimit();
    await record(sql, { subject: id });
    return { receiver: requireReceiver(await findReceiver(sql, { brandId, receiverId: id })), secret };
  });
}

const brandNotFound = (): AppError => new AppError("not_found", "There is no brand with this id", { field: "brand_id" });

const receiverLimit = (): AppError =>
  new AppError(
    "receiver_limit",
    `The brand has ${RECEIVERS_MAX} receivers, the maximum. Delete one that is no longer needed, or forward events from an existing one.`,
  );

/** @throws AppError `not_found` */
export const getReceiver = async (db: Sql, key: ReceiverKey): Promise<Receiver> => requireReceiver(await findReceiver(db, key));

/** Returns the brand's receivers, oldest first. */
export const receiversOf = (db: Sql, brandId: string): Promise<Receiver[]> => listReceivers(db, brandId);

/**
 * Changes the given fields of a receiver. Keeps its secret and its pending deliveries. If `maxInFlight` falls below the number of
 * attempts in flight, these continue, and no other attempt starts until there is room. What the receiver has already changes nothing:
 * clients repeat the call, and a press has one entry in the audit log.
 *
 * @throws AppError `not_found`, `duplicate_url`
 */
export async function updateReceiver(db: Database, change: ReceiverChange, record: RecordChange): Promise<Receiver> {
  try {
    await db.transaction((sql) => changeWithLane(sql, change, record));
  } catch (error) {
    if (isUniqueViolation(error)) throw duplicateUrl();
    throw error;
  }
  return requireReceiver(await findReceiver(db, change));
}

/** Changes the receiver while its lane is locked. Failures of the old URL do not count against a new one. */
async function changeWithLane(sql: Sql, change: ReceiverChange, record: RecordChange): Promise<void> {
  const { receiverId, url, maxInFlight } = change;
  if (!(await lockLane(sql, change))) throw receiverNotFound();
  const before = await findSettings(sql, change);
  if (!(await changeReceiver(sql, change))) return;
  await record(sql);
  if (maxInFlight !== undefined) await limitLane(sql, receiverId, maxInFlight);
  if (url !== undefined && url !== before?.url) await forgetFailures(sql, receiverId);
}

const HOURS_BATCH_ROWS = 5_000;

/**
 * Deletes a receiver permanently. Receiver and lane are deleted first, so no worker sends any more; then its pending
 * deliveries are dropped, and its attempts by hour. If that is interrupted, `dropOrphanedDeliveries` and `deleteOrphanedHours` complete it.
 *
 * @returns deliveries dropped
 * @throws AppError `not_found`
 */
export async function deleteReceiver(db: Database, key: ReceiverKey, record: RecordChange, options?: ChunkOptions): Promise<number> {
  await db.transaction(async (sql) => {
    // The lane first, by the locking order: deleting the receiver alone would lock the lane second.
    if (!(await lockLane(sql, key)) || !(await remove(sql, key))) throw receiverNotFound();
    await record(sql);
  });
  const dropped = await dropPending(db, key.receiverId, options);
  await deleteHours(db, key.receiverId);
  return dropped;
}

/**
 * Drops the pending deliveries of deleted receivers: left by an interrupted deletion, or added by an intake that had selected
 * the receiver just before. Any number of janitors may run it at the same time.
 *
 * @returns deliveries dropped
 */
export async function dropOrphanedDeliveries(db: Database, options?: ChunkOptions): Promise<number> {
  let dropped = 0;
  for (const receiverId of await orphanedReceiverIds(db)) dropped += await dropPending(db, receiverId, options);
  return dropped;
}

/**
 * Deletes the attempts by hour of deleted receivers: of attempts that were in flight, and what an interrupted deletion left. The
 * deletion of a brand does not find them: a receiver's id alone leads from the brand to its hours. Any number of janitors may run it at the same time.
 */
export async function deleteOrphanedHours(db: Database): Promise<void> {
  for (const receiverId of await receiversOfOrphanedHours(db)) await deleteHours(db, receiverId);
}

async function deleteHours(db: Database, receiverId: string): Promise<void> {
  while ((await deleteHoursOf(db, receiverId, HOURS_BATCH_ROWS)) === HOURS_BATCH_ROWS);
}
