import { z } from "zod";
import { id, member, nullable, owner, time } from "./operation.ts";

/** How an attempt to deliver ended, as the webhook service names it. A later release may have others. */
export const ATTEMPT_OUTCOMES = [
  "accepted",
  "refused",
  "dns",
  "forbidden_address",
  "proxy_refused",
  "connect",
  "tls",
  "timeout",
  "closed",
  "protocol",
  "unsendable",
  "unknown",
] as const;

export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

const state = z.enum(["pending", "sending", "held", "delivered", "failed"]);

export const delivery = z.object({
  id: z.string(),
  receiver_id: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  state,
  /** Attempts started. */
  attempts: z.number(),
  test: z.boolean(),
  created_at: time,
  due_at: nullable(time),
  finished_at: nullable(time),
  last_outcome: nullable(z.string()),
  last_http_status: nullable(z.number()),
  /** Milliseconds that the last finished attempt took. */
  last_duration_ms: nullable(z.number()),
  /** Null if the event is no longer stored. */
  record_id: nullable(z.string()),
  /** The delivery that this one sends again. */
  repeat_of: nullable(z.string()),
  /** The replay that queued it. */
  replay_id: nullable(z.string()),
  sending_since: nullable(time),
});

const attempt = z.object({
  id: z.string(),
  attempt: z.number(),
  started_at: time,
  duration_ms: z.number(),
  outcome: z.string(),
  http_status: nullable(z.number()),
  error: nullable(z.string()),
  /** Signatures are left out. */
  request_headers: z.array(z.object({ name: z.string(), value: z.string() })),
  /** The first 16 KiB of the response as text; bytes that are not UTF-8 are replaced. */
  response: z.string(),
});

const attemptStats = z.object({
  accepted: z.number(),
  failed: z.number(),
  p50_ms: nullable(z.number()),
  p95_ms: nullable(z.number()),
});

/** Another delivery of the same event to the same receiver. */
const reference = z.object({ id: z.string(), created_at: time });

const deliveryInput = { delivery_id: id("dlv") };
/** Sending is paused until then, because attempts failed in a row. */
const circuit = { paused_until: nullable(time), failures_in_a_row: z.number() };

/** What an event is about. */
export const recordId = z.string().regex(/^[a-z]{2,3}_[0-9a-z]{1,40}$/, "must be the id of a record");

/** An instant that a page sends: RFC 3339. */
export const instant = z.iso.datetime({ offset: true, error: "must be a time such as 2026-11-21T08:30:00+08:00" });

export const DELIVERY_OPERATIONS = {
  /**
   * Returns the deliveries of a receiver that match every filter, newest first, 50 a page. With `status_class` a page before the last may be
   * short, or empty: a call looks at 2,000 deliveries.
   */
  "deliveries.list": member({
    receiver_id: id("rcv"),
    states: z.array(state).max(5).optional(),
    type: z.string().max(100).optional(),
    from: instant.optional(),
    to: instant.optional(),
    event_id: id("evt").optional(),
    record_id: recordId.optional(),
    /** The last attempt's; `none`: no response came. */
    status_class: z.enum(["2xx", "3xx", "4xx", "5xx", "none"]).optional(),
    after_id: id("dlv").optional(),
  }).returns({ deliveries: z.array(delivery), next_after_id: nullable(z.string()), ...circuit }),
  "deliveries.get": member(deliveryInput).returns({
    delivery,
    attempts: z.array(attempt),
    /** The body of every attempt, as sent; null if the event is no longer stored. */
    body: nullable(z.string()),
    /** The delivery that this one sends again; null if it sends none, or it is no longer stored. */
    original: nullable(reference),
    /** Those that sent this one again, newest first. */
    repeats: z.array(reference),
    ...circuit,
  }),
  /** Returns the attempts of a receiver by hour; hours without attempts are left out. */
  "deliveries.stats": member({ receiver_id: id("rcv"), from: instant, to: instant }).returns({
    hours: z.array(z.object({ hour: time, stats: attemptStats })),
    total: attemptStats,
    /** Earlier attempts are not counted. */
    counted_since: time,
  }),
  /**
   * Sends the event once more as a new delivery; a pending delivery becomes due now instead. `pending_only`: the page shows it as waiting,
   * so a delivery that has finished since is not sent once more.
   */
  "deliveries.replay": owner({ ...deliveryInput, pending_only: z.boolean().optional() }).returns({ delivery }),
};

const replay = z.object({
  id: z.string(),
  receiver_id: z.string(),
  since: time,
  until: time,
  failed_only: z.boolean(),
  started_at: time,
  /** Events queued so far. */
  queued: z.number(),
  /** Counted up to 100,000. */
  total: z.number(),
  finished_at: nullable(time),
  cancelled_at: nullable(time),
});

const replayInput = { receiver_id: id("rcv"), since: instant, failed_only: z.boolean() };

export const REPLAY_OPERATIONS = {
  /** Returns how many events `replays.start` would queue. Counted up to 100,000. */
  "replays.count": member(replayInput).returns({ events: z.number() }),
  /** Sends every event since a time once more, or only those that failed. */
  "replays.start": owner(replayInput).returns({ replay }),
  /** Returns the receiver's replay in progress, else its last one. */
  "replays.latest": member({ receiver_id: id("rcv") }).returns({ replay: nullable(replay) }),
  /** Queues no more events; those queued are sent. */
  "replays.cancel": owner({ replay_id: id("rpl") }).returns({ replay }),
};
