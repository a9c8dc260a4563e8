import { repeat } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";
import { epochsChangedWithin } from "../storage/brands.ts";
import type { EpochPublisher } from "./epoch-publisher.ts";

const EVERY_MS = 1_000;
/** Longer than any failover or restart that may lose a published epoch. */
const CHANGED_WITHIN_SECONDS = 600;
/** Publications under way at once: more would only wait for each other, and time out. */
const BATCH = 100;

/**
 * Publishes the epochs of the last ten minutes every second, beginning at once: a publication lost with a Redis
 * failover, or with this process between commit and publication, is made up for within a second.
 */
export function startRepublisher(db: Database, board: EpochPublisher, log: Logger): { stop(): Promise<void> } {
  const round = async (): Promise<void> => {
    try {
      const changed = await epochsChangedWithin(db, CHANGED_WITHIN_SECONDS);
      for (let done = 0; done < changed.length; done += BATCH) {
        // What cannot be published fails at once: a brand that Redis refuses, or a node that is away, keeps none of the others waiting.
        await Promise.all(changed.slice(done, done + BATCH).map(({ id, epoch }) => board.publish(id, epoch)));
      }
    } catch (error) {
      log.warn({ err: error }, "epochs could not be read for republication");
    }
  };
  return repeat(round, EVERY_MS);
}
