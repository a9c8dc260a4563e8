import { z } from "zod";
import { delivery, instant, recordId } from "./deliveries.ts";
import { id, member, nullable, page_token, time } from "./operation.ts";

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
  receivers: nullable(z.number()),
  receivers_accepted: nullable(z.number()),
});

export const EVENT_OPERATIONS = {
  /** Returns the brand's events that match every filter, newest first, 50 a page. */
  "events.list": member({
    type: z.string().max(100).optional(),
    from: instant.optional(),
    to: instant.optional(),
    record_id: recordId.optional(),
    page_token,
  }).returns({ events: z.array(listedEvent), next_page_token: nullable(z.string()) }),
  "events.get": member({ event_id: id("evt") }).returns({
    event,
    /** The bytes that receivers get. */
    body: z.string(),
    /** Empty if no receiver selected the event; the label is null if the receiver was deleted. */
    receivers: z.array(
      z.object({
        receiver_id: z.string(),
        label: nullable(z.string()),
        /** Host and port of its URL. */
        host: nullable(z.string()),
        paused_until: nullable(time),
        deliveries: z.array(delivery),
      }),
    ),
    has_more_deliveries: z.boolean(),
  }),
};
