import { z } from "zod";
import { delivery } from "./deliveries.ts";
import { id, brandInput, time, type Operation } from "./operation.ts";

export const receiver = z.object({
  id: z.string(),
  /** Owners see all of it, members its origin only, because it may contain a token. */
  url: z.string(),
  label: z.string(),
  events: z.array(z.string()),
  enabled: z.boolean(),
  /** member, gone or failing. */
  disabled_reason: z.string().nullable(),
  disabled_at: time.nullable(),
  /** 0 without a response. */
  last_status: z.number().nullable(),
  last_outcome: z.string().nullable(),
  last_delivery_at: time.nullable(),
  failures: z.number(),
  failures_in_a_row: z.number(),
  /** Pending deliveries; held ones if it is disabled. Counted up to 100,000. */
  waiting: z.number(),
  /** Those that are due: the others wait for a retry. */
  waiting_due: z.number(),
  /** Attempts in progress. */
  in_flight: z.number(),
  paused_until: time.nullable(),
  max_in_flight: z.number(),
  rotating: z.boolean(),
  next_secret_at: time.nullable(),
  next_secret_accepted_at: time.nullable(),
  created_at: time,
  updated_at: time,
});

const receiverInput = { ...brandInput, receiver_id: id("rcv") } as const;

/** `whsec_` and base64 of 32 bytes. No other response has it. */
const secret = z.string();

/** What the service checks has a loose type here: it names every problem at its field. */
const settings = {
  url: z.string().max(4_000, "The URL is longer than 4,000 characters."),
  label: z.string().max(1_000, "The label is too long."),
  events: z.array(z.string().max(100)).max(20),
} as const;

export const RECEIVER_OPERATIONS = {
  /** Returns all receivers, oldest first: 20 at most. */
  "receivers.list": { needs: "member", input: z.strictObject(brandInput), output: z.object({ receivers: z.array(receiver) }) },
  "receivers.get": { needs: "member", input: z.strictObject(receiverInput), output: z.object({ receiver }) },
  "receivers.create": { needs: "owner", input: z.strictObject({ ...brandInput, ...settings }), output: z.object({ receiver, secret }) },
  "receivers.update": {
    needs: "owner",
    input: z
      .strictObject({
        ...receiverInput,
        ...settings,
        // The service takes an empty list for no change.
        events: settings.events.min(1, "must name at least one event"),
        max_in_flight: z.int("must be a whole number"),
      })
      .partial({ url: true, label: true, events: true, max_in_flight: true }),
    output: z.object({ receiver }),
  },
  /** `held`: what to do with the held deliveries. */
  "receivers.enable": {
    needs: "owner",
    input: z.strictObject({ ...receiverInput, held: z.enum(["release", "drop"]) }),
    output: z.object({ receiver, dropped: z.number() }),
  },
  "receivers.disable": { needs: "owner", input: z.strictObject(receiverInput), output: z.object({ receiver }) },
  "receivers.delete": { needs: "owner", input: z.strictObject(receiverInput), output: z.object({ dropped: z.number() }) },
  /**
   * Makes the next secret. Deliveries are signed with both until it is activated. `replace`: also if there is a next secret already, which
   * the receiver may have; else `request_conflict`.
   */
  "receivers.rotate": {
    needs: "owner",
    input: z.strictObject({ ...receiverInput, replace: z.boolean() }),
    output: z.object({ receiver, secret }),
  },
  "receivers.activate": { needs: "owner", input: z.strictObject({ ...receiverInput, force: z.boolean() }), output: z.object({ receiver }) },
  /** Ends the pause and tries the first delivery that waits; `all`: makes every other one due, too. */
  "receivers.send_waiting": {
    needs: "owner",
    input: z.strictObject({ ...receiverInput, all: z.boolean() }),
    output: z.object({
      receiver,
      /** The delivery that is tried first, as it waits; null if none does. */
      first: delivery.nullable(),
    }),
  },
  /** Queues a test delivery. `next`: signs it with the next secret alone. */
  "receivers.test": {
    needs: "owner",
    input: z.strictObject({ ...receiverInput, type: z.string().max(100), next: z.boolean() }),
    output: z.object({ delivery_id: z.string(), event_id: z.string() }),
  },
} as const satisfies Record<string, Operation>;
