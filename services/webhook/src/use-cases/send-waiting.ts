import type { Database } from "@brand-records/postgres";
import type { Delivery } from "../domain/delivery.ts";
import { receiverDisabled, receiverNotFound, requireReceiver, type Receiver, type ReceiverKey } from "../domain/receiver.ts";
import { isBrandOpen } from "../storage/brands.ts";
import { findDelivery, firstPending, hastenDelivery } from "../storage/deliveries.ts";
import { hastenPending, type HastenOptions } from "../storage/hasten-pending.ts";
import { databaseTime } from "../storage/held-deliveries.ts";
import { lockLane } from "../storage/lanes.ts";
import { findReceiver, findSettings } from "../storage/receivers.ts";

export interface SentWaiting {
  readonly receiver: Receiver;
  /** The delivery that is tried first; undefined if none waits. */
  readonly first: Delivery | undefined;
}

/**
 * Sends what waits at an enabled receiver now: ends the pause of its circuit and tries the first delivery. While the circuit has not closed, a
 * failure opens it again, and what waits goes on waiting.
 *
 * @param all makes every other pending delivery due, too, whatever its back-off
 * @throws AppError `not_found`, `receiver_disabled`
 */
export async function sendWaiting(db: Database, key: ReceiverKey, all: boolean, options?: HastenOptions): Promise<SentWaiting> {
  const now = await databaseTime(db);
  const first = await db.transaction(async (sql) => {
    const settings = (await lockLane(sql, key)) ? await findSettings(sql, key) : undefined;
    if (settings === undefined || !(await isBrandOpen(sql, key.brandId))) throw receiverNotFound();
    if (!settings.enabled) throw receiverDisabled("sent what waits");
    const deliveryId = await firstPending(sql, key.receiverId);
    if (deliveryId === undefined) return undefined;
    await hastenDelivery(sql, { id: deliveryId, receiver_id: key.receiverId });
    return findDelivery(sql, { brandId: key.brandId, deliveryId });
  });
  if (all && first !== undefined) await hastenPending(db, key, now, options);
  return { receiver: requireReceiver(await findReceiver(db, key)), first };
}
