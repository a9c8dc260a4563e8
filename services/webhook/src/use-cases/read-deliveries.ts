import type { Sql } from "@brand-records/postgres";
import type { DeliveryStats } from "../domain/delivery-stats.ts";
import { requireDelivery, type Attempt, type Delivery, type DeliveryKey } from "../domain/delivery.ts";
import { requireEvent, type FoundEvent } from "../domain/event.ts";
import type { DeliveryReference } from "../domain/repeat.ts";
import { receiverNotFound, type ReceiverKey } from "../domain/receiver.ts";
import { deliveryStats } from "../storage/attempt-hours.ts";
import { attemptsOf, findDelivery } from "../storage/deliveries.ts";
import { pageOfDeliveries, type DeliveriesPage } from "../storage/delivery-lists.ts";
import { findEvent } from "../storage/events.ts";
import { originalOf, repeatsOf } from "../storage/repeats.ts";
import { laneStatus, type LaneStatus } from "../storage/lanes.ts";

/** What keeps pending deliveries of a receiver from being sent: nothing if there is no receiver. */
type Pause = Pick<LaneStatus, "paused_until" | "failures_in_a_row">;

function pauseOf(lane: LaneStatus | undefined): Pause {
  const { paused_until = null, failures_in_a_row = 0 } = lane ?? {};
  return { paused_until, failures_in_a_row };
}

/** Which deliveries to list: those of a receiver, of an event, or of both. */
export interface DeliveryList extends Omit<DeliveriesPage, "event"> {
  /** Null for all events of the receiver. */
  readonly eventId: string | null;
}

export interface ListedDeliveries {
  readonly deliveries: Delivery[];
  /** The pause of the receiver, if the list names one. */
  readonly pause: Pause;
}

/** @throws AppError `not_found` for a receiver that the brand does not have; without a receiver, for an event that is not stored */
export async function listDeliveries(db: Sql, { eventId, ...filter }: DeliveryList): Promise<ListedDeliveries> {
  const { brandId, receiverId } = filter;
  const lane = receiverId === null ? undefined : await laneStatus(db, { brandId, receiverId });
  if (receiverId !== null && lane === undefined) throw receiverNotFound();
  const found = eventId === null ? null : await findEvent(db, { brandId, eventId });
  if (receiverId === null) requireEvent(found);
  const deliveries = found === undefined ? [] : await pageOfDeliveries(db, { ...filter, event: found });
  return { deliveries, pause: pauseOf(lane) };
}

export interface DeliveryDetails {
  readonly delivery: Delivery;
  /** Oldest first. */
  readonly attempts: readonly Attempt[];
  /** Undefined if it is no longer stored. */
  readonly event: FoundEvent | undefined;
  readonly pause: Pause;
  /** The delivery that this one sends again; undefined if it sends none. */
  readonly original: DeliveryReference | undefined;
  /** Deliveries that sent this one again, newest first. */
  readonly repeats: readonly DeliveryReference[];
}

/** @throws AppError `not_found` */
export async function getDelivery(db: Sql, key: DeliveryKey): Promise<DeliveryDetails> {
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
