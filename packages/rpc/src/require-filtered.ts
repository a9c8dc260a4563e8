import { AppError } from "@brand-records/errors";
import type { Delivery, ListDeliveriesRequest } from "@brand-records/proto/webhook/v1";

/** The filters that release 0.3.0 lacks. */
type LaterFilters = Pick<ListDeliveriesRequest, "record_id" | "status_class">;

/**
 * Refuses a page of deliveries that was not filtered as asked: during an update it may come from a webhook process of release 0.3.0, which
 * ignores these filters.
 *
 * @throws AppError `unavailable`
 */
export function requireFiltered(deliveries: readonly Delivery[], { record_id, status_class }: LaterFilters): void {
  const isAsked = (delivery: Delivery): boolean =>
    (record_id == null || delivery.record_id === record_id) && (status_class == null || statusClassOf(delivery) === status_class);
  if (deliveries.every(isAsked)) return;
  throw new AppError("unavailable", "These filters are not available yet: the service is being updated. Try again shortly.");
}

/** Returns 2xx to 5xx, `none` if no response came, or undefined if no attempt has finished. */
function statusClassOf({ last_outcome, last_http_status }: Delivery): string | undefined {
  if (last_http_status != null) return `${Math.floor(last_http_status / 100)}xx`;
  return last_outcome == null ? undefined : "none";
}
