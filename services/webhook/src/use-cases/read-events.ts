import { AppError } from "@brand-records/errors";
import type { Sql } from "@brand-records/postgres";
import { DELIVERY_STATES } from "../domain/delivery.ts";
import { requireEvent, type EventKey, type EventPosition, type ListedEvent } from "../domain/event.ts";
import { pageOfDeliveries } from "../storage/delivery-lists.ts";
import { findEvent, NO_RECEIVERS, pageOfEvents, positionOfEvent, receiversOf, type EventsPage } from "../storage/events.ts";
import { deliveryTargets } from "../storage/receivers.ts";

/** Deliveries of one event that are returned with it. ListDeliveries returns all. */
const EVENT_DELIVERIES_MAX = 200;

/** Returns an event with its deliveries, and the brand's receivers by id. @throws AppError `not_found` */
export async function getEvent(db: Sql, { brandId, eventId }: EventKey) {
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

export interface EventList extends EventsPage {
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
