import { ATTRIBUTES, isSampled, OWN_ATTRIBUTES, startRootSpan, startSpan, type TraceSpan } from "@brand-records/telemetry";
import type { Outcome } from "../domain/outcome.ts";
import type { ClaimedDelivery } from "../storage/claims.ts";

/** Retries go on for days, but few stores of traces accept spans of a trace that old. */
const TRACE_MS_MAX = 15 * 60_000;

/**
 * Starts the span of an attempt: in the trace of the change that made the event, or, once that is old, in a trace of its own with a link.
 * Undefined if the change is not sampled.
 */
export function startAttemptSpan(delivery: ClaimedDelivery, startedAt: Date): TraceSpan | undefined {
  const { traceparent, event_created_at } = delivery;
  if (traceparent === null || !isSampled(traceparent)) return undefined;
  const options = { kind: "client", attributes: attributesOf(delivery) } as const;
  const isYoung = startedAt.getTime() - Date.parse(event_created_at) <= TRACE_MS_MAX;
  return isYoung ? startSpan("POST", traceparent, options) : startRootSpan("POST", { ...options, links: [traceparent] });
}

/** Names the host of the URL only: path and query may carry tokens. */
function attributesOf({ id, event_id, receiver_id, brand_id, url, attempt }: ClaimedDelivery) {
  return {
    [ATTRIBUTES.httpMethod]: "POST",
    [ATTRIBUTES.serverAddress]: new URL(url).hostname,
    ...(attempt > 1 && { [ATTRIBUTES.httpResendCount]: attempt - 1 }),
    [OWN_ATTRIBUTES.deliveryId]: id,
    [OWN_ATTRIBUTES.eventId]: event_id,
    [OWN_ATTRIBUTES.receiverId]: receiver_id,
    ...(brand_id !== null && { [OWN_ATTRIBUTES.brandId]: brand_id }),
  };
}

export function endAttemptSpan(span: TraceSpan | undefined, { kind, httpStatus }: Outcome): void {
  if (httpStatus !== null) span?.set({ [ATTRIBUTES.httpStatus]: httpStatus });
  // The convention is: the status if there is one, else what failed.
  if (kind !== "accepted") span?.fail(httpStatus === null ? kind : String(httpStatus));
  span?.end();
}
