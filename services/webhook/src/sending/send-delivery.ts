import type { Clock } from "@brand-records/lifecycle";
import {
  ATTRIBUTES,
  isSampled,
  OWN_ATTRIBUTES,
  startRootSpan,
  startSpan,
  traceFields,
  type Logger,
  type TraceSpan,
} from "@brand-records/telemetry";
import { idSequence } from "@brand-records/ids";
import { eventBody } from "../domain/event.ts";
import type { Outcome } from "../domain/outcome.ts";
import { nextState, type NextState } from "../domain/retry-schedule.ts";
import { signatureHeaders, unsignedHeaders } from "../domain/signature.ts";
import type { ClaimedDelivery } from "../storage/claims.ts";
import type { AttemptResult } from "../storage/results.ts";
import { attemptPost } from "./attempt.ts";
import type { ReceiverAgent } from "./receiver-agent.ts";
import type { SendingMetrics } from "./sending-metrics.ts";
import type { AttemptSecrets } from "./signing-secrets.ts";

export interface AttemptOptions {
  readonly clock: Clock;
  readonly agent: ReceiverAgent;
  readonly metrics: SendingMetrics;
  readonly log: Logger;
  readonly deadlineMs: number;
  readonly retryDelaysSeconds: readonly number[];
  readonly publicUrl: string;
  readonly headerWord: string;
}

export type Sendable = ClaimedDelivery & {
  readonly brand_id: string;
  /** Undefined for a test of a next secret that no longer exists. */
  readonly secrets: AttemptSecrets | undefined;
};

const newAttemptId = idSequence("att");

/** Makes one attempt, logs and measures it, and returns what is stored of it. Never rejects. */
export async function sendDelivery(delivery: Sendable, options: AttemptOptions): Promise<AttemptResult> {
  const { clock, metrics, log, retryDelaysSeconds } = options;
  const startedAt = new Date(clock.now());
  const started = performance.now();
  if (isFirst(delivery)) metrics.delay.observe(Math.max(0, startedAt.getTime() - Date.parse(delivery.event_created_at)) / 1_000);
  const span = startAttemptSpan(delivery, startedAt);
  const outcome = await attemptSigned(delivery, startedAt, options);
  endAttemptSpan(span, outcome);
  const duration_ms = Math.round(performance.now() - started);
  const next = nextState(outcome, delivery.attempt, Math.random(), retryDelaysSeconds);
  metrics.attempts.inc({ outcome: outcome.kind });
  metrics.duration.observe(duration_ms / 1_000);
  const { id, event_id, receiver_id, brand_id, attempt, traceparent } = delivery;
  const trace = traceparent === null ? {} : traceFields(span?.traceparent ?? traceparent);
  const fields = { outcome: outcome.kind, http_status: outcome.httpStatus, ...(outcome.error !== null && { error: outcome.error }) };
  const retry = next.state === "pending" ? { retry_in_seconds: Math.round(next.delaySeconds) } : {};
  log.info(
    { delivery_id: id, event_id, receiver_id, brand_id, attempt, ...trace, ...fields, duration_ms, next_state: next.state, ...retry },
    "delivery attempted",
  );
  return resultOf(delivery, outcome, next, startedAt, duration_ms);
}

/** The timestamp is that of the recorded start, so that a request can be shown as it was sent. */
async function attemptSigned(
  delivery: Sendable,
  startedAt: Date,
  { agent, clock, deadlineMs, publicUrl, headerWord }: AttemptOptions,
): Promise<Outcome> {
  const { secrets } = delivery;
  if (secrets === undefined) return unsendable("there is no next secret any more to sign it with");
  const body = eventBody(delivery, publicUrl);
  const signed = {
    eventId: delivery.event_id,
    eventType: delivery.type,
    body,
    timestampSeconds: Math.floor(startedAt.getTime() / 1_000),
    attempt: delivery.attempt,
    keys: secrets,
    headerWord,
  };
  const headers = { ...unsignedHeaders(signed, delivery.traceparent), ...signatureHeaders(signed) };
  return attemptPost(agent, { url: delivery.url, headers, body, deadlineMs }, clock);
}

/** Whether the start of its attempt shows how late this service is: replays and retries are late on purpose. */
const isFirst = ({ attempt, from_intake, failing }: ClaimedDelivery): boolean => attempt === 1 && from_intake && !failing;

const unsendable = (error: string): Outcome => ({
  kind: "unsendable",
  httpStatus: null,
  error,
  response: null,
  retryAfterSeconds: null,
});

function resultOf(delivery: Sendable, outcome: Outcome, next: NextState, startedAt: Date, duration_ms: number): AttemptResult {
  return {
    delivery_id: delivery.id,
    lease: delivery.lease,
    brand_id: delivery.brand_id,
    receiver_id: delivery.receiver_id,
    event_id: delivery.event_id,
    event_created_at: delivery.event_created_at,
    url: delivery.url,
    delivery_created_at: delivery.created_at,
    test: delivery.test,
    tested_secret: delivery.sign_with_next ? delivery.next_secret : null,
    attempt_id: newAttemptId(),
    attempt: delivery.attempt,
    started_at: startedAt.toISOString(),
    duration_ms,
    outcome: outcome.kind,
    http_status: outcome.httpStatus,
    error: outcome.error,
    response: outcome.response,
    state: next.state,
    delay_seconds: next.state === "pending" ? next.delaySeconds : null,
  };
}

/** Retries go on for days, but few stores of traces accept spans of a trace that old. */
const TRACE_MS_MAX = 15 * 60_000;

/**
 * Starts the span of an attempt: in the trace of the change that made the event, or, once that is old, in a trace of its own with a link.
 * Undefined if the change is not sampled.
 */
function startAttemptSpan(delivery: ClaimedDelivery, startedAt: Date): TraceSpan | undefined {
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

function endAttemptSpan(span: TraceSpan | undefined, { kind, httpStatus }: Outcome): void {
  if (httpStatus !== null) span?.set({ [ATTRIBUTES.httpStatus]: httpStatus });
  // The convention is: the status if there is one, else what failed.
  if (kind !== "accepted") span?.fail(httpStatus === null ? kind : String(httpStatus));
  span?.end();
}
