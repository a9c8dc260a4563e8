import type { Sql } from "@brand-records/postgres";
import { requireDelivery, type DeliveryKey, type DeliveryStats } from "../domain/delivery.ts";
import { requireEvent, type EventPosition } from "../domain/event.ts";
import { receiverNotFound, type ReceiverKey } from "../domain/receiver.ts";
import { deliveryStats } from "../storage/attempt-hours.ts";
import { attemptsOf, findDelivery, originalOf, repeatsOf } from "../storage/deliveries.ts";
import { pageOfDeliveries, type DeliveriesPage, type PageOfDeliveries } from "../storage/delivery-lists.ts";
import { eventsOfRecord, findEvent } from "../storage/events.ts";
import { laneStatus, type LaneStatus } from "../storage/lanes.ts";

/** What keeps pending deliveries of a receiver from being sent: nothing if there is no receiver. */
type Pause = Pick<LaneStatus, "paused_until" | "failures_in_a_row">;

function pauseOf(lane: LaneStatus | undefined): Pause {
  const { paused_until = null, failures_in_a_row = 0 } = lane ?? {};
  return { paused_until, failures_in_a_row };
}

/** Which deliveries to list: those of a receiver, of an event, of a record, or of several of these. */
export interface DeliveryList extends Omit<DeliveriesPage, "events"> {
  /** Null for all events of the receiver. */
  readonly eventId: string | null;
  /** What the events are about; null for anything. */
  readonly recordId: string | null;
}

/**
 * Returns deliveries, and the pause of the receiver if the list names one.
 *
 * @throws AppError `not_found` for a receiver that the brand does not have; without a receiver, for an event that is not stored
 */
export async function listDeliveries(
  db: Sql,
  { eventId, recordId, ...filter }: DeliveryList,
): Promise<PageOfDeliveries & { pause: Pause }> {
  const { brandId, receiverId } = filter;
  const lane = receiverId === null ? undefined : await laneStatus(db, { brandId, receiverId });
  if (receiverId !== null && lane === undefined) throw receiverNotFound();
  const found = eventId === null ? null : await findEvent(db, { brandId, eventId });
  if (receiverId === null && recordId === null) requireEvent(found);
  const ofRecord = recordId === null ? null : await eventsOfRecord(db, { brandId, recordId });
  const page = await pageOfDeliveries(db, { ...filter, events: eventsIn(found, ofRecord) });
  return { ...page, pause: pauseOf(lane) };
}

/** @param found null if no event is asked for, undefined if it is not stored; and `ofRecord`: null if no record is asked for */
function eventsIn(found: EventPosition | null | undefined, ofRecord: readonly EventPosition[] | null): readonly EventPosition[] | null {
  if (found === null) return ofRecord;
  if (found === undefined) return [];
  return ofRecord === null ? [found] : ofRecord.filter(({ id }) => id === found.id);
}

/**
 * Returns a delivery with its attempts, oldest first; its event, undefined if it is no longer stored; the delivery that it sends again; and
 * those that sent it again, newest first.
 *
 * @throws AppError `not_found`
 */
export async function getDelivery(db: Sql, key: DeliveryKey) {
  const delivery = requireDelivery(await findDelivery(db, key));
  const attempts = await attemptsOf(db, key.deliveryId);
  const event = await findEvent(db, { brandId: key.brandId, eventId: delivery.event_id });
  // A receiver without a lane was deleted.
  const lane = await laneStatus(db, { brandId: key.brandId, receiverId: delivery.receiver_id });
  const [original, repeats] = [await originalOf(db, delivery), await repeatsOf(db, delivery)];
  return { delivery, attempts, event, pause: pauseOf(lane), original, repeats };
}

/**
 * Returns a receiver's attempts by hour.
 *
 * @param from and `to`: RFC 3339, whole hours
 * @throws AppError `not_found`
 */
export async function getDeliveryStats(db: Sql, key: ReceiverKey, from: string, to: string): Promise<DeliveryStats> {
  if ((await laneStatus(db, key)) === undefined) throw receiverNotFound();
  return deliveryStats(db, key.receiverId, from, to);
}
