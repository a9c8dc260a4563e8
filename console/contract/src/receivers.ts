import { z } from "zod";
import { delivery } from "./deliveries.ts";
import { id, member, nullable, owner, time } from "./operation.ts";

export const receiver = z.object({
  id: z.string(),
  /** Owners see all of it, members its origin only, because it may contain a token. */
  url: z.string(),
  label: z.string(),
  events: z.array(z.string()),
  enabled: z.boolean(),
  /** member, gone or failing. */
  disabled_reason: nullable(z.string()),
  disabled_at: nullable(time),
  /** 0 without a response. */
  last_status: nullable(z.number()),
  last_outcome: nullable(z.string()),
  last_delivery_at: nullable(time),
  failures: z.number(),
  failures_in_a_row: z.number(),
  /** Pending deliveries; held ones if it is disabled. Counted up to 100,000. */
  waiting: z.number(),
  /** Those that are due: the others wait for a retry. */
  waiting_due: z.number(),
  /** Attempts in progress. */
  in_flight: z.number(),
  paused_until: nullable(time),
  max_in_flight: z.number(),
  rotating: z.boolean(),
  next_secret_at: nullable(time),
  next_secret_accepted_at: nullable(time),
  created_at: time,
  updated_at: time,
});

const receiverInput = { receiver_id: id("rcv") };

/** `whsec_` and base64 of 32 bytes. No other response has it. */
const secret = z.string();

/** What the service checks has a loose type here: it names every problem at its field. */
const settings = {
  url: z.string().max(4_000, "The URL is longer than 4,000 characters."),
  label: z.string().max(1_000, "The label is too long."),
  events: z.array(z.string().max(100)).max(20),
};

export const RECEIVER_OPERATIONS = {
  /** Returns all receivers, oldest first: 20 at most. */
  "receivers.list": member().returns({ receivers: z.array(receiver) }),
  "receivers.get": member(receiverInput).returns({ receiver }),
  "receivers.create": owner(settings).returns({ receiver, secret }),
  "receivers.update": owner({
    ...receiverInput,
    url: settings.url.optional(),
    label: settings.label.optional(),
    // The service takes an empty list for no change.
    events: settings.events.min(1, "must name at least one event").optional(),
    max_in_flight: z.int("must be a whole number").optional(),
  }).returns({ receiver }),
  /** `held`: what to do with the held deliveries. */
  "receivers.enable": owner({ ...receiverInput, held: z.enum(["release", "drop"]) }).returns({ receiver, dropped: z.number() }),
  "receivers.disable": owner(receiverInput).returns({ receiver }),
  "receivers.delete": owner(receiverInput).returns({ dropped: z.number() }),
  /**
   * Makes the next secret. Deliveries are signed with both until it is activated. `replace`: also if there is a next secret already, which
   * the receiver may have; else `request_conflict`.
   */
  "receivers.rotate": owner({ ...receiverInput, replace: z.boolean() }).returns({ receiver, secret }),
  "receivers.activate": owner({ ...receiverInput, force: z.boolean() }).returns({ receiver }),
  /** Ends the pause and tries the first delivery that waits; `all`: makes every other one due, too. */
  "receivers.send_waiting": owner({ ...receiverInput, all: z.boolean() }).returns({
    receiver,
    /** The delivery that is tried first, as it waits; null if none does. */
    first: nullable(delivery),
  }),
  /** Queues a test delivery. `next`: signs it with the next secret alone. */
  "receivers.test": owner({ ...receiverInput, type: z.string().max(100), next: z.boolean() }).returns({
    delivery_id: z.string(),
    event_id: z.string(),
  }),
};
