import { AppError } from "@brand-records/errors";

/** Identifies an event together with its brand, so that no look-up omits the brand. */
export interface EventKey {
  readonly brandId: string;
  readonly eventId: string;
}

/** @throws AppError `not_found`, also for another brand's event, so that ids cannot be probed */
export function requireEvent<Event>(event: Event | undefined): Event {
  if (event !== undefined) return event;
  throw new AppError("not_found", "There is no event with this id, or it is no longer stored", { field: "event_id" });
}
