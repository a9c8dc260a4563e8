import type { Database } from "@brand-records/postgres";
import type { RecordChange } from "@brand-records/service-runtime";
import { receiverDisabled, receiverNotFound, requireReceiver, type Receiver, type ReceiverKey } from "../domain/receiver.ts";
import { isBrandOpen } from "../storage/brands.ts";
import { databaseTime, dropPending, hastenPending, type ChunkOptions } from "../storage/pending-deliveries.ts";
import { holdLane, lockLane, notifySenders, releaseLane } from "../storage/lanes.ts";
import {
  disableAgain,
  disableReceiver as disable,
  disablesOf,
  enableReceiver as enable,
  findReceiver,
  findSettings,
} from "../storage/receivers.ts";
import type { Delivery } from "../domain/delivery.ts";
import { anyIsDelayed, findDelivery, firstPending, hastenDelivery, isDelayed } from "../storage/deliveries.ts";

/**
 * Enables a receiver, and sends or drops the deliveries that were held. Those to send become due at once, also those that would have waited
 * for a retry. Both are done while the lane is still held, so that none is sent before; deliveries added meanwhile stay. If that is
 * interrupted, the receiver is still disabled and a repeat completes it. Does nothing if the receiver is enabled. If it is disabled again
 * meanwhile, it stays so: this may take longer than its caller waits. That is recorded only where deliveries are dropped, which no one gets back.
 *
 * @throws AppError `not_found`, also while the brand is being deleted
 */
export async function enableReceiver(
  db: Database,
  key: ReceiverKey,
  held: "release" | "drop",
  record: RecordChange,
  options: ChunkOptions = {},
): Promise<{ receiver: Receiver; dropped: number }> {
  const before = requireReceiver(await findReceiver(db, key));
  if (before.enabled) return { receiver: before, dropped: 0 };
  if (!(await isBrandOpen(db, key.brandId))) throw receiverNotFound();
  const disables = await disablesOf(db, key);
  if (disables === undefined) throw receiverNotFound();
  const now = await databaseTime(db);
  if (held === "drop") await recordDrop(db, key, record);
  const dropped = held === "drop" ? await dropPending(db, key.receiverId, { ...options, createdUntil: now }) : 0;
  if (held === "release") await hastenPending(db, key, now, options);
  await db.transaction(async (sql) => {
    // Comes before the deliveries are read: adding one needs the lane, so none is missed.
    // A deletion of the brand closes it under the same lock: what is enabled before that, it disables.
    if (!(await lockLane(sql, key)) || !(await isBrandOpen(sql, key.brandId))) throw receiverNotFound();
    if (!(await enable(sql, key.receiverId, disables))) return;
    await releaseLane(sql, key.receiverId);
    await notifySenders(sql);
    if (held === "release") await record(sql);
  });
  return { receiver: requireReceiver(await findReceiver(db, key)), dropped };
}

/** Comes before the first delivery goes: each batch is a transaction of its own. */
function recordDrop(db: Database, key: ReceiverKey, record: RecordChange): Promise<void> {
  return db.transaction(async (sql) => {
    if (!(await lockLane(sql, key)) || !(await isBrandOpen(sql, key.brandId))) throw receiverNotFound();
    await record(sql);
  });
}

/**
 * Disables a receiver: nothing more is sent, and all deliveries are kept. Takes the same time however many are pending.
 * A repeat changes nothing, not even the reason, but ends an enabling in progress.
 *
 * @param onDisabled called once the receiver is disabled, unless it already was
 * @throws AppError `not_found`
 */
export async function disableReceiver(db: Database, key: ReceiverKey, record: RecordChange, onDisabled?: () => void): Promise<Receiver> {
  const isChanged = await db.transaction(async (sql) => {
    if (!(await lockLane(sql, key))) throw receiverNotFound();
    if ((await disable(sql, key.receiverId, "member")) === undefined) {
      await disableAgain(sql, key.receiverId);
      return false;
    }
    await holdLane(sql, key.receiverId);
    await record(sql);
    return true;
  });
  if (isChanged) onDisabled?.();
  return requireReceiver(await findReceiver(db, key));
}

/**
 * Sends what waits at an enabled receiver now: ends the pause of its circuit and tries the first delivery. While the circuit has not closed, a
 * failure opens it again, and what waits goes on waiting. Recorded if it ends a pause or a back-off: what is due anyway is sent anyway, and
 * clients repeat the call.
 *
 * @returns the receiver, and the delivery that is tried first: undefined if none waits
 * @param all makes every other pending delivery due, too, whatever its back-off
 * @throws AppError `not_found`, `receiver_disabled`
 */
export async function sendWaiting(
  db: Database,
  key: ReceiverKey,
  all: boolean,
  record: RecordChange,
  options?: ChunkOptions,
): Promise<{ receiver: Receiver; first: Delivery | undefined }> {
  const now = await databaseTime(db);
  const first = await db.transaction(async (sql) => {
    const settings = (await lockLane(sql, key)) ? await findSettings(sql, key) : undefined;
    if (settings === undefined || !(await isBrandOpen(sql, key.brandId))) throw receiverNotFound();
    if (!settings.enabled) throw receiverDisabled("sent what waits");
    const deliveryId = await firstPending(sql, key.receiverId);
    if (deliveryId === undefined) return undefined;
    const isChange = all ? await anyIsDelayed(sql, key.receiverId) : await isDelayed(sql, deliveryId);
    await hastenDelivery(sql, { id: deliveryId, receiver_id: key.receiverId });
    if (isChange) await record(sql);
    return findDelivery(sql, { brandId: key.brandId, deliveryId });
  });
  if (all && first !== undefined) await hastenPending(db, key, now, options);
  return { receiver: requireReceiver(await findReceiver(db, key)), first };
}
