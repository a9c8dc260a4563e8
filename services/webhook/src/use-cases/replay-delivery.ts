import { AppError } from "@brand-records/errors";
import type { Database, Sql } from "@brand-records/postgres";
import { idSequence } from "@brand-records/ids";
import type { RecordChange } from "@brand-records/service-runtime";
import { isPresent, requireDelivery, type Delivery, type DeliveryKey } from "../domain/delivery.ts";
import { requireRoomForTest, type ReceiverKey } from "../domain/receiver.ts";
import { findDelivery, hastenDelivery, isDelayed, repeatDelivery, repeatsOf } from "../storage/deliveries.ts";
import { isEventStored } from "../storage/events.ts";
import { databaseTime } from "../storage/pending-deliveries.ts";
import { lockLane, noteRepeatedTest } from "../storage/lanes.ts";
import { recentTests } from "../storage/recent-tests.ts";

const nextDeliveryId = idSequence("dlv");

/**
 * Sends the event of a delivery to its receiver once more. A finished delivery gets a new one, at attempt 1, unless it was sent again
 * within seconds or that repeat is unfinished: the repeat then stands for it. A pending one becomes due now and keeps its attempts. One that is being
 * sent is left alone. If the receiver is disabled, the delivery is held. Of a test, each counts as one. Recorded unless the delivery was due
 * anyway: a second press finds it so.
 *
 * @param pendingOnly leaves a finished one alone, too: the caller saw it waiting
 * @returns the new delivery, or the existing one
 * @throws AppError `not_found`, also if its event is no longer stored or its receiver was deleted; `rate_limited` for a test
 */
export function replayDelivery(db: Database, key: DeliveryKey, record: RecordChange, pendingOnly = false): Promise<Delivery> {
  const { brandId } = key;
  return db.transaction(async (sql) => {
    const { receiver_id } = requireDelivery(await findDelivery(sql, key));
    if (!(await lockLane(sql, { brandId, receiverId: receiver_id }))) throw receiverDeleted();
    // Again: under the lock, no worker claims it or writes its result.
    const named = requireDelivery(await findDelivery(sql, key));
    if (pendingOnly && named.finished_at !== null) return named;
    const delivery = await presentRepeat(sql, brandId, named);
    if (delivery.state === "sending") return delivery;
    if (!(await isEventStored(sql, { brandId, eventId: delivery.event_id }))) throw eventNotStored();
    if (delivery.finished_at === null) {
      if (delivery.test) await countTest(sql, { brandId, receiverId: receiver_id });
      if (await isDelayed(sql, delivery.id)) await record(sql);
      await hastenDelivery(sql, delivery);
      return requireDelivery(await findDelivery(sql, { brandId, deliveryId: delivery.id }));
    }
    if (delivery.id !== named.id || (await isRecentRepeat(sql, delivery))) return delivery;
    if (delivery.test) await countTest(sql, { brandId, receiverId: receiver_id });
    const deliveryId = nextDeliveryId();
    await repeatDelivery(sql, deliveryId, delivery);
    await record(sql);
    return requireDelivery(await findDelivery(sql, { brandId, deliveryId }));
  });
}

/** @throws AppError `rate_limited` */
async function countTest(sql: Sql, key: ReceiverKey): Promise<void> {
  requireRoomForTest(await recentTests(sql, key));
  await noteRepeatedTest(sql, key.receiverId);
}

/** Returns the repeat that stands for a delivery, or else the delivery itself. */
async function presentRepeat(sql: Sql, brandId: string, delivery: Delivery): Promise<Delivery> {
  if (delivery.finished_at === null) return delivery;
  const [newest] = await repeatsOf(sql, delivery);
  if (newest === undefined || !isPresent(newest)) return delivery;
  return requireDelivery(await findDelivery(sql, { brandId, deliveryId: newest.id }));
}

/** The second press of a double click finds the page of the repeat. */
async function isRecentRepeat(sql: Sql, { created_at, repeat_of }: Delivery): Promise<boolean> {
  if (repeat_of === null) return false;
  const age = Date.parse(await databaseTime(sql)) - Date.parse(created_at);
  return isPresent({ is_finished: true, age_seconds: age / 1_000 });
}

const eventNotStored = (): AppError =>
  new AppError("not_found", "The delivery's event is no longer stored, so it cannot be sent again", { field: "delivery_id" });

const receiverDeleted = (): AppError =>
  new AppError("not_found", "The delivery's receiver was deleted, so it cannot be sent again", { field: "delivery_id" });
