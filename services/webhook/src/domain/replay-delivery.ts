import { AppError } from "@brand-records/errors";
import type { Database } from "@brand-records/postgres";
import { idSequence } from "@brand-records/typeid";
import { findDelivery, hastenDelivery, isEventKept, repeatDelivery } from "../storage/deliveries.ts";
import { lockLane } from "../storage/receivers.ts";
import { noSuchDelivery, type Delivery, type DeliveryKey } from "./delivery.ts";

const nextDeliveryId = idSequence("dlv");

/**
 * Sends the event of a delivery to its receiver once more. One that is over makes a new one, at attempt 1; one that is pending
 * is due at once, its attempts as they are; one that is being sent is left alone. Where the receiver is disabled it is held.
 *
 * @returns the new one, or the one that was there
 * @throws AppError `not_found`, also if its event is not kept any more, or its receiver is gone
 */
export function replayDelivery(db: Database, key: DeliveryKey): Promise<Delivery> {
  return db.transaction(async (sql) => {
    const found = await findDelivery(sql, key);
    if (found === undefined) throw noSuchDelivery();
    if (!(await lockLane(sql, { brandId: key.brandId, receiverId: found.receiver_id }))) throw receiverGone();
    // Again, now that nobody claims it or writes down what came of it.
    const delivery = await findDelivery(sql, key);
    if (delivery === undefined) throw noSuchDelivery();
    if (delivery.state === "sending") return delivery;
    if (!(await isEventKept(sql, key.brandId, delivery.event_id))) throw eventGone();
    const id = delivery.finished_at === null ? delivery.id : nextDeliveryId();
    if (id === delivery.id) await hastenDelivery(sql, delivery);
    else await repeatDelivery(sql, id, delivery);
    const replayed = await findDelivery(sql, { brandId: key.brandId, deliveryId: id });
    if (replayed === undefined) throw noSuchDelivery();
    return replayed;
  });
}

const eventGone = (): AppError =>
  new AppError("not_found", "The delivery's event is not kept any more, so it cannot be sent again", { field: "delivery_id" });

const receiverGone = (): AppError =>
  new AppError("not_found", "The delivery's receiver was deleted, so there is nowhere to send it again", { field: "delivery_id" });
