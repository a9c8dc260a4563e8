import { repeat, withStopTimeout } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";
import { dropOrphanedDeliveries } from "./domain/delete-receiver.ts";
import { ensureDays } from "./storage/intake.ts";
import { dropOldDays } from "./storage/retention.ts";

const EVERY_MS = 60_000;
/** Each chore may be cut off anywhere, and one may take minutes. */
const STOP_MS = 2_000;
const DAY_MS = 86_400_000;
/** Partitions are there before the first event of their day is, which then does not wait for them to be made. */
const DAYS_AHEAD = 3;

export interface JanitorOptions {
  readonly db: Database;
  readonly log: Logger;
  /** Whole days for which events, deliveries and attempts are kept. */
  readonly keepDays: number;
}

/** What nobody waits for, once a minute in every process: all of it may be done by any number of them at once. */
export function startJanitor({ db, log, keepDays }: JanitorOptions): { stop(): Promise<void> } {
  const chores: Record<string, () => Promise<unknown>> = {
    "days ahead": () =>
      ensureDays(
        db,
        Array.from({ length: DAYS_AHEAD + 1 }, (_, days) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)),
      ),
    "deliveries of deleted receivers": () => dropOrphanedDeliveries(db),
    "old days": async () => {
      const dropped = await dropOldDays(db, keepDays);
      if (dropped.length > 0) log.info({ dropped }, "old days dropped");
    },
  };
  const round = async (): Promise<void> => {
    for (const [chore, work] of Object.entries(chores)) {
      // The next round tries again.
      await work().catch((error: unknown) => log.warn({ err: error, chore }, "a chore could not be done"));
    }
  };
  return withStopTimeout(repeat(round, EVERY_MS), STOP_MS);
}
