import { z } from "zod";
import { key } from "./keys.ts";
import { brandInput, time, type Operation } from "./operation.ts";
import { bucket } from "./oversight.ts";
import { receiver } from "./receivers.ts";

export const OVERVIEW_OPERATIONS = {
  /** Returns everything that the first page shows, so that it is there at once. */
  "overview.get": {
    needs: "member",
    input: z.strictObject(brandInput),
    output: z.object({
      /** The first page of `keys.list`: with as many, the others change nothing about what is set up. */
      keys: z.array(key),
      receivers: z.array(receiver),
      /** Whether a receiver has ever accepted a delivery, as far as deliveries are kept. One that fails now has not lost it. */
      has_accepted: z.boolean(),
      /** Requests of the last 24 hours, by hour from `from` on, the present quarter of an hour included; null if they could not be read. */
      usage: z.object({ from: time, buckets: z.array(bucket) }).nullable(),
      /** Campaign plans that wait for a person; null if they could not be counted. */
      plans_pending: z.number().nullable(),
    }),
  },
} as const satisfies Record<string, Operation>;
