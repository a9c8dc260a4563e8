import { repeat } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";
import { releaseExpiredLeases } from "../storage/leases.ts";

const EVERY_MS = 2_000;

/** Gives back what workers had when they died, soon after their leases end. Any number of processes may do it at once. */
export function startLeaseKeeper(db: Database, log: Logger): { stop(): Promise<void> } {
  return repeat(async () => {
    try {
      const released = await releaseExpiredLeases(db);
      if (released > 0) log.warn({ released }, "leases had expired: their deliveries are sent again");
    } catch (error) {
      log.warn({ err: error }, "expired leases could not be released");
    }
  }, EVERY_MS);
}
