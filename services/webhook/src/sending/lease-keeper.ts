import { repeat, withStopTimeout } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";
import { endExpiredLeases, type LeaseTerms } from "./expired-leases.ts";

const EVERY_MS = 2_000;
const STOP_MS = 2_000;

/** Ends the leases of workers that died, soon after they expire. Any number of processes may do it at once. */
export function startLeaseKeeper(db: Database, terms: LeaseTerms, log: Logger): { stop(): Promise<void> } {
  const keeping = repeat(async () => {
    try {
      const { pending, failed, removed } = await endExpiredLeases(db, terms);
      if (pending + failed + removed > 0) log.warn({ pending, failed, removed }, "leases expired: their attempts have no result");
    } catch (error) {
      log.warn({ err: error }, "expired leases could not be ended");
    }
  }, EVERY_MS);
  return withStopTimeout(keeping, STOP_MS);
}
