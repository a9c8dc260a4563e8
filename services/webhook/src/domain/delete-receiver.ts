import type { Database } from "@brand-records/postgres";
import type { ReceiverParts } from "../receiver-parts.ts";
import { dropWaiting, orphanedReceiverIds } from "../storage/held-deliveries.ts";
import { deleteReceiver as remove, lockLane } from "../storage/receivers.ts";
import { noSuchReceiver, type ReceiverKey } from "./receiver.ts";

/**
 * For good. The receiver and its lane are gone at once, so nobody sends any more; then what waited for it is removed.
 * Interrupted in that, `dropOrphanedDeliveries` finishes it.
 *
 * @returns deliveries dropped
 * @throws AppError `not_found`
 */
export async function deleteReceiver({ db, dropping }: Pick<ReceiverParts, "db" | "dropping">, key: ReceiverKey): Promise<number> {
  await db.transaction(async (sql) => {
    // The lane first, as everybody does who needs both: its removal would come second by itself.
    if (!(await lockLane(sql, key)) || !(await remove(sql, key))) throw noSuchReceiver();
  });
  return dropWaiting(db, key.receiverId, dropping);
}

/**
 * Removes what waits for receivers that are gone: left by a deletion that was interrupted, or added by an intake that had
 * selected the receiver just before. For a janitor; any number of them may run at once.
 *
 * @returns deliveries dropped
 */
export async function dropOrphanedDeliveries(db: Database): Promise<number> {
  let dropped = 0;
  for (const receiverId of await orphanedReceiverIds(db)) dropped += await dropWaiting(db, receiverId);
  return dropped;
}
