import type { Database } from "@brand-records/postgres";
import { receiverNotFound, requireReceiver, type Receiver, type ReceiverKey } from "../domain/receiver.ts";
import { isBrandOpen } from "../storage/brands.ts";
import { databaseTime, dropPending, type DropOptions } from "../storage/held-deliveries.ts";
import { holdLane, lockLane, releaseLane } from "../storage/lanes.ts";
import { disableReceiver as disable, enableReceiver as enable, findReceiver } from "../storage/receivers.ts";

/**
 * Enables a receiver, and releases or drops the deliveries that were held. Drops them first, while the lane is still held, so
 * none is sent; deliveries added meanwhile stay. If that is interrupted, the receiver is still disabled and a repeat
 * completes it. Does nothing if the receiver is enabled.
 *
 * @throws AppError `not_found`, also while the brand is being deleted
 */
export async function enableReceiver(
  db: Database,
  key: ReceiverKey,
  held: "release" | "drop",
  options?: DropOptions,
): Promise<{ receiver: Receiver; dropped: number }> {
  const before = requireReceiver(await findReceiver(db, key));
  if (before.enabled) return { receiver: before, dropped: 0 };
  if (!(await isBrandOpen(db, key.brandId))) throw receiverNotFound();
  const dropped = held === "drop" ? await dropPending(db, key.receiverId, { ...options, createdUntil: await databaseTime(db) }) : 0;
  await db.transaction(async (sql) => {
    // Comes before the deliveries are read: adding one needs the lane, so none is missed.
    // A deletion of the brand closes it under the same lock: what is enabled before that, it disables.
    if (!(await lockLane(sql, key)) || !(await isBrandOpen(sql, key.brandId))) throw receiverNotFound();
    if (await enable(sql, key.receiverId)) await releaseLane(sql, key.receiverId);
  });
  return { receiver: requireReceiver(await findReceiver(db, key)), dropped };
}

/**
 * Disables a receiver: nothing more is sent, and all deliveries are kept. Takes the same time however many are pending.
 * A repeat changes nothing, not even the reason.
 *
 * @param onDisabled called once the receiver is disabled, unless it already was
 * @throws AppError `not_found`
 */
export async function disableReceiver(db: Database, key: ReceiverKey, onDisabled?: () => void): Promise<Receiver> {
  const isChanged = await db.transaction(async (sql) => {
    if (!(await lockLane(sql, key))) throw receiverNotFound();
    if (!(await disable(sql, key.receiverId, "member"))) return false;
    await holdLane(sql, key.receiverId);
    return true;
  });
  if (isChanged) onDisabled?.();
  return requireReceiver(await findReceiver(db, key));
}
