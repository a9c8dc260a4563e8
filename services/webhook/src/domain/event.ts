import { AppError } from "@brand-records/errors";
import type { Event as Message } from "@brand-records/proto/webhook/v1";
import type { RowOf } from "@brand-records/proto/rows";

/** Identifies an event together with its brand, so that no look-up omits the brand. */
export interface EventKey {
  readonly brandId: string;
  readonly eventId: string;
}

export type StoredEvent = RowOf<Omit<Message, keyof ReceiverCounts>>;

/** Receivers of an event, and those of them that accepted it. */
export type ReceiverCounts = { readonly [Name in "receivers" | "receivers_accepted"]: number };

export type ListedEvent = StoredEvent & Partial<ReceiverCounts>;

/** An event with what its deliveries are made of beside the columns that lists show. */
export interface FoundEvent extends StoredEvent {
  readonly traceparent: string | null;
}

/** A place in a brand's events, which are ordered by time and id. */
export interface EventPosition {
  readonly created_at: string;
  readonly id: string;
}

/** Null fields do not filter. */
export interface EventFilter {
  readonly type: string | null;
  /** The record's id: `data.id`. */
  readonly recordId: string | null;
  /** RFC 3339: created at this time or later. */
  readonly from: string | null;
  /** RFC 3339: created before this time. */
  readonly to: string | null;
}

/** @throws AppError `not_found`, also for another brand's event, so that ids cannot be probed */
export function requireEvent<Event>(event: Event | undefined): Event {
  if (event !== undefined) return event;
  throw new AppError("not_found", "There is no event with this id, or it is no longer stored", { field: "event_id" });
}

export interface BodyParts {
  readonly event_id: string;
  readonly type: string;
  readonly event_created_at: string;
  readonly brand_id: string;
  readonly test: boolean;
  /** JSON, unchanged from the event. */
  readonly data: string;
}

/** Returns the body of a delivery: the same bytes for every attempt and replay. */
export function eventBody({ event_id, type, event_created_at, brand_id, test, data }: BodyParts, publicUrl: string): Buffer {
  const envelope = {
    id: event_id,
    type,
    created_at: event_created_at,
    brand_id,
    test,
    dashboard_url: `${publicUrl}/developers/events/${event_id}`,
  };
  // The data is inserted as it is, without parsing it and writing it again.
  return Buffer.from(`${JSON.stringify(envelope).slice(0, -1)},"data":${data}}`);
}
