import { z } from "zod";
import { instant } from "./deliveries.ts";
import { id, brandInput, time, type Operation } from "./operation.ts";

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
  finished_at: time.nullable(),
  cancelled_at: time.nullable(),
});

const replayInput = { ...brandInput, receiver_id: id("rcv"), since: instant, failed_only: z.boolean() } as const;

export const REPLAY_OPERATIONS = {
  /** Returns how many events `replays.start` would queue. Counted up to 100,000. */
  "replays.count": { needs: "member", input: z.strictObject(replayInput), output: z.object({ events: z.number() }) },
  /** Sends every event since a time once more, or only those that failed. */
  "replays.start": { needs: "owner", input: z.strictObject(replayInput), output: z.object({ replay }) },
  /** Returns the receiver's replay in progress, else its last one. */
  "replays.latest": {
    needs: "member",
    input: z.strictObject({ ...brandInput, receiver_id: id("rcv") }),
    output: z.object({ replay: replay.nullable() }),
  },
  /** Queues no more events; those queued are sent. */
  "replays.cancel": { needs: "owner", input: z.strictObject({ ...brandInput, replay_id: id("rpl") }), output: z.object({ replay }) },
} as const satisfies Record<string, Operation>;
