import type { Database } from "@brand-records/postgres";
import { receiverNotFound, type ReceiverKey } from "../domain/receiver.ts";
import { dropPending, orphanedReceiverIds, type DropOptions } from "../storage/held-deliveries.ts";
import { lockLane } from "../storage/lanes.ts";
import { deleteReceiver as remove } from "../storage/receivers.ts";

/**
 * Deletes a receiver permanently. Receiver and lane are deleted first, so no worker sends any more; then its pending
 * deliveries are dropped. If that is interrupted, `dropOrphanedDeliveries` completes it.
 *
 * @returns deliveries dropped
 * @throws AppError `not_found`
 */
export async function deleteReceiver(db: Database, key: ReceiverKey, options?: DropOptions): Promise<number> {
  await db.transaction(async (sql) => {
    // The lane first, by the locking order: deleting the receiver alone would lock the lane second.
    if (!(await lockLane(sql, key)) || !(await remove(sql, key))) throw receiverNotFound();
  });
  return dropPending(db, key.receiverId, options);
}

/**
 * Drops the pending deliveries of deleted receivers: left by an interrupted deletion, or added by an intake that had selected
 * the receiver just before. Any number of janitors may run it at the same time.
 *
 * @returns deliveries dropped
 */
export async function dropOrphanedDeliveries(db: Database): Promise<number> {
  let dropped = 0;
  for (const receiverId of await orphanedReceiverIds(db)) dropped += await dropPending(db, receiverId);
  return dropped;
}
