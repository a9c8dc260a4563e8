import { AppError } from "@brand-records/errors";
import type { Sql } from "@brand-records/postgres";
import { DELIVERY_STATES, type Delivery } from "../domain/delivery.ts";
import { requireEvent, type EventFilter, type EventKey, type EventPosition, type ListedEvent, type StoredEvent } from "../domain/event.ts";
import { pageOfDeliveries } from "../storage/delivery-lists.ts";
import { findEvent, NO_RECEIVERS, pageOfEvents, positionOfEvent, receiversOf } from "../storage/events.ts";
import { deliveryTargets, type DeliveryTarget } from "../storage/receivers.ts";

/** Deliveries of one event that are returned with it. ListDeliveries returns all. */
const EVENT_DELIVERIES_MAX = 200;

export interface EventWithDeliveries {
  readonly event: StoredEvent;
  readonly deliveries: readonly Delivery[];
  readonly hasMoreDeliveries: boolean;
  /** The brand's receivers, by id. */
  readonly targets: ReadonlyMap<string, DeliveryTarget>;
}

/** @throws AppError `not_found` */
export async function getEvent(db: Sql, { brandId, eventId }: EventKey): Promise<EventWithDeliveries> {
  const { traceparent: _, ...event } = requireEvent(await findEvent(db, { brandId, eventId }));
  const everything = { type: null, from: null, to: null, statusClass: null, afterId: null, receiverId: null, states: DELIVERY_STATES };
  const { deliveries } = await pageOfDeliveries(db, { ...everything, brandId, events: [event], limit: EVENT_DELIVERIES_MAX + 1 });
  return {
    event,
    deliveries: deliveries.slice(0, EVENT_DELIVERIES_MAX),
    hasMoreDeliveries: deliveries.length > EVENT_DELIVERIES_MAX,
    targets: await deliveryTargets(db, brandId),
  };
}

export interface EventList extends EventFilter {
  readonly after: EventPosition | null;
  readonly limit: number;
  /** Returns with each event how many receivers accepted it. */
  readonly countsReceivers: boolean;
}

/** Returns the brand's events, newest first, without test events. */
export async function listEvents(db: Sql, brandId: string, { countsReceivers, ...page }: EventList): Promise<ListedEvent[]> {
  const events = await pageOfEvents(db, brandId, page);
  if (!countsReceivers) return events;
  const counts = await receiversOf(db, events);
  return events.map((event) => ({ ...event, ...(counts.get(event.id) ?? NO_RECEIVERS) }));
}

/** Returns where an event is in its brand's list. @throws AppError `invalid_request` if it is not in it */
export async function requirePosition(db: Sql, key: EventKey): Promise<EventPosition> {
  const position = await positionOfEvent(db, key);
  if (position !== undefined) return position;
  throw new AppError("invalid_request", "after_id must be the id of a stored event of this brand", { field: "after_id" });
}
