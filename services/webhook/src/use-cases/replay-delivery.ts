import { AppError } from "@brand-records/errors";
import type { Database } from "@brand-records/postgres";
import { idSequence } from "@brand-records/typeid";
import { requireDelivery, type Delivery, type DeliveryKey } from "../domain/delivery.ts";
import { findDelivery, hastenDelivery, repeatDelivery } from "../storage/deliveries.ts";
import { isEventStored } from "../storage/events.ts";
import { lockLane } from "../storage/lanes.ts";

const nextDeliveryId = idSequence("dlv");

/**
 * Sends the event of a delivery to its receiver once more. A finished delivery gets a new one, at attempt 1. A pending one
 * becomes due now and keeps its attempts. One that is being sent is left alone. If the receiver is disabled, the delivery is
 * held.
 *
 * @returns the new delivery, or the existing one
 * @throws AppError `not_found`, also if its event is no longer stored or its receiver was deleted
 */
export function replayDelivery(db: Database, key: DeliveryKey): Promise<Delivery> {
  const { brandId } = key;
  return db.transaction(async (sql) => {
    const { receiver_id } = requireDelivery(await findDelivery(sql, key));
    if (!(await lockLane(sql, { brandId, receiverId: receiver_id }))) throw receiverDeleted();
    // Again: under the lock, no worker claims it or writes its result.
    const delivery = requireDelivery(await findDelivery(sql, key));
    if (delivery.state === "sending") return delivery;
    if (!(await isEventStored(sql, { brandId, eventId: delivery.event_id }))) throw eventNotStored();
    const deliveryId = delivery.finished_at === null ? delivery.id : nextDeliveryId();
    if (deliveryId === delivery.id) await hastenDelivery(sql, delivery);
    else await repeatDelivery(sql, deliveryId, delivery);
    return requireDelivery(await findDelivery(sql, { brandId, deliveryId }));
  });
}

const eventNotStored = (): AppError =>
  new AppError("not_found", "The delivery's event is no longer stored, so it cannot be sent again", { field: "delivery_id" });

const receiverDeleted = (): AppError =>
  new AppError("not_found", "The delivery's receiver was deleted, so it cannot be sent again", { field: "delivery_id" });
