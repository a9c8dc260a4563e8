import { z } from "zod";
import { delivery, instant, recordId } from "./deliveries.ts";
import { id, brandInput, time, type Operation } from "./operation.ts";

const event = z.object({
  id: z.string(),
  type: z.string(),
  created_at: time,
  received_at: time,
  test: z.boolean(),
  /** The `data` that receivers get, as JSON. */
  data_json: z.string(),
});

const listedEvent = event.extend({
  /** Receivers that it was or is to be delivered to, and those that accepted it; null if none were counted. */
  receivers: z.number().nullable(),
  receivers_accepted: z.number().nullable(),
});

export const EVENT_OPERATIONS = {
  /** Returns the brand's events that match every filter, newest first, 50 a page. */
  "events.list": {
    needs: "member",
    input: z.strictObject({
      ...brandInput,
      type: z.string().max(100).optional(),
      from: instant.optional(),
      to: instant.optional(),
      record_id: recordId.optional(),
      page_token: z.string().max(1_000).optional(),
    }),
    output: z.object({ events: z.array(listedEvent), next_page_token: z.string().nullable() }),
  },
  "events.get": {
    needs: "member",
    input: z.strictObject({ ...brandInput, event_id: id("evt") }),
    output: z.object({
      event,
      /** The bytes that receivers get. */
      body: z.string(),
      /** Empty if no receiver selected the event; the label is null if the receiver was deleted. */
      receivers: z.array(
        z.object({
          receiver_id: z.string(),
          label: z.string().nullable(),
          /** Host and port of its URL. */
          host: z.string().nullable(),
          paused_until: time.nullable(),
          deliveries: z.array(delivery),
        }),
      ),
      has_more_deliveries: z.boolean(),
    }),
  },
} as const satisfies Record<string, Operation>;
