import type { Database } from "@brand-records/postgres";
import { receiverNotFound, type ReceiverKey } from "../domain/receiver.ts";
import { deleteHoursOf, receiversOfOrphanedHours } from "../storage/attempt-hours.ts";
import { dropPending, orphanedReceiverIds, type DropOptions } from "../storage/held-deliveries.ts";
import { lockLane } from "../storage/lanes.ts";
import { deleteReceiver as remove } from "../storage/receivers.ts";

const HOURS_BATCH_ROWS = 5_000;

/**
 * Deletes a receiver permanently. Receiver and lane are deleted first, so no worker sends any more; then its pending
 * deliveries are dropped, and its attempts by hour. If that is interrupted, `dropOrphanedDeliveries` and `deleteOrphanedHours` complete it.
 *
 * @returns deliveries dropped
 * @throws AppError `not_found`
 */
export async function deleteReceiver(db: Database, key: ReceiverKey, options?: DropOptions): Promise<number> {
  await db.transaction(async (sql) => {
    // The lane first, by the locking order: deleting the receiver alone would lock the lane second.
    if (!(await lockLane(sql, key)) || !(await remove(sql, key))) throw receiverNotFound();
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
export async function dropOrphanedDeliveries(db: Database): Promise<number> {
  let dropped = 0;
  for (const receiverId of await orphanedReceiverIds(db)) dropped += await dropPending(db, receiverId);
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
