import { z } from "zod";
import { id, ofBrand, time, type Operation } from "./operation.ts";

const delivery = z.object({
  id: z.string(),
  receiver_id: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  state: z.enum(["pending", "sending", "held", "delivered", "failed"]),
  /** Attempts started. */
  attempts: z.number(),
  test: z.boolean(),
  created_at: time,
  due_at: time.nullable(),
  finished_at: time.nullable(),
  last_outcome: z.string().nullable(),
  last_http_status: z.number().nullable(),
  sending_since: time.nullable(),
});

const attempt = z.object({
  id: z.string(),
  attempt: z.number(),
  started_at: time,
  duration_ms: z.number(),
  outcome: z.string(),
  http_status: z.number().nullable(),
  error: z.string().nullable(),
  /** The first 16 KiB of the response as text; bytes that are not UTF-8 are replaced. */
  response: z.string(),
});

const deliveryInput = { ...ofBrand, delivery_id: id("dlv") } as const;
/** Sending is paused until then, because attempts failed in a row. */
const circuit = { paused_until: time.nullable(), failures_in_a_row: z.number() } as const;

export const DELIVERY_OPERATIONS = {
  /** Returns a receiver's deliveries, newest first, 50 a page. */
  "deliveries.list": {
    needs: "member",
    input: z.strictObject({
      ...ofBrand,
      receiver_id: id("rcv"),
      state: z.enum(["pending", "sending", "held", "delivered", "failed"]).optional(),
      after_id: id("dlv").optional(),
    }),
    output: z.object({ deliveries: z.array(delivery), next_after_id: z.string().nullable(), ...circuit }),
  },
  "deliveries.get": {
    needs: "member",
    input: z.strictObject(deliveryInput),
    output: z.object({ delivery, attempts: z.array(attempt), ...circuit }),
  },
  /** Sends the event once more as a new delivery; a pending delivery becomes due now instead. */
  "deliveries.replay": { needs: "owner", input: z.strictObject(deliveryInput), output: z.object({ delivery }) },
} as const satisfies Record<string, Operation>;
