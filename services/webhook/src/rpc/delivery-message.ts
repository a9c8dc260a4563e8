import type { Attempt as AttemptMessage, Delivery as DeliveryMessage, Header } from "@brand-records/proto/webhook/v1";
import type { WebhookDependencies } from "../dependencies.ts";
import { leaseSecondsFor, leaseStart, type Attempt, type Delivery } from "../domain/delivery.ts";
import { eventBody, type FoundEvent, type StoredEvent } from "../domain/event.ts";
import { hasSent } from "../domain/outcome.ts";
import { unsignedHeaders } from "../domain/signature.ts";

export function deliveryMessage({ lease_until, ...delivery }: Delivery, deadlineMs: number): DeliveryMessage {
  if (lease_until === null) return delivery;
  return { ...delivery, sending_since: leaseStart(lease_until, leaseSecondsFor(deadlineMs)), deadline_ms: deadlineMs };
}

/**
 * Returns an attempt with the headers that it sent, but for its signatures. They are not stored, and after a rotation the present secret
 * would make others. Shown to every member, they would let each send that request again within five minutes.
 *
 * @param event undefined if it is no longer stored
 */
export function attemptMessage(
  attempt: Attempt,
  event: FoundEvent | undefined,
  { headerWord }: Pick<WebhookDependencies, "headerWord">,
): AttemptMessage {
  if (event === undefined || !hasSent(attempt.outcome)) return { ...attempt, request_headers: [] };
  const timestampSeconds = Math.floor(Date.parse(attempt.started_at) / 1_000);
  const request = { eventId: event.id, eventType: event.type, timestampSeconds, attempt: attempt.attempt, headerWord };
  const headers = Object.entries(unsignedHeaders(request, event.traceparent));
  return { ...attempt, request_headers: headers.map(([name, value]): Header => ({ name, value })) };
}

export function bodyOf(
  { id, type, created_at, brand_id, test, data_json }: StoredEvent,
  { publicUrl }: Pick<WebhookDependencies, "publicUrl">,
): Buffer {
  return eventBody({ event_id: id, type, event_created_at: created_at, brand_id, test, data: data_json }, publicUrl);
}
