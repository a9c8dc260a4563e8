import { repeat, withStopTimeout, type Clock } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import type { Maintenance } from "@brand-records/service-runtime";
import type { Logger } from "@brand-records/telemetry";
import { AppError } from "@brand-records/errors";
import { noteDisabled, noteLongPauses } from "./notices.ts";
import { deleteOldHours } from "./storage/attempt-hours.ts";
import { dropOldDays, ensureDays } from "./storage/daily-partitions.ts";
import type { ChunkOptions } from "./storage/pending-deliveries.ts";
import { deleteOldDeadLetters, deleteOldReplays } from "./storage/old-rows.ts";
import { deleteOrphanedHours, dropOrphanedDeliveries } from "./use-cases/receivers.ts";

const EVERY_MS = 60_000;
/** A task may take minutes and may be cut off anywhere. */
const STOP_MS = 2_000;
const DAY_MS = 86_400_000;
/** Partitions exist before the first event of their day, so that no event waits for one to be created. */
const DAYS_AHEAD = 3;

export interface JanitorOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly maintenance: Maintenance;
  readonly log: Logger;
  readonly chunks: ChunkOptions;
  /** Whole days for which events, deliveries and attempts are kept. */
  readonly keepDays: number;
}

/** Background maintenance, once a minute. Every task is safe to run in any number of processes at the same time. */
export function startJanitor({ db, clock, maintenance, log, chunks, keepDays }: JanitorOptions): { stop(): Promise<void> } {
  const tasks = {
    "create partitions": () =>
      ensureDays(
        db,
        Array.from({ length: DAYS_AHEAD + 1 }, (_, days) => new Date(clock.now() + days * DAY_MS).toISOString().slice(0, 10)),
      ),
    "drop deliveries of deleted receivers": () => dropOrphanedDeliveries(db, chunks),
    "delete hours of deleted receivers": () => deleteOrphanedHours(db),
    "note long pauses": noteLongPauses(db, log),
    "note disabled receivers": onceAnHour(noteDisabled(db, log)),
    // Each try stops the readers and writers of attempts for a moment.
    "drop old days": pausedAfterTimeout(async () => {
      const dropped = await dropOldDays(db, keepDays);
      if (dropped.length > 0) log.info({ dropped }, "old days dropped");
    }),
    "delete old hours": onceAnHour(() => deleteOldHours(db, keepDays)),
    "delete old replays": onceAnHour(() => deleteOldReplays(db, keepDays)),
    "delete old dead letters": onceAnHour(() => deleteOldDeadLetters(db)),
  } satisfies Record<string, () => Promise<unknown>>;
  const runTasks = async (): Promise<void> => {
    for (const [task, run] of Object.entries(tasks)) await maintenance.run(task, run);
  };
  return withStopTimeout(repeat(runTasks, EVERY_MS), STOP_MS);
}

const HOUR_MS = 3_600_000;

/** Returns a task that runs `work` in the first call of each hour (UTC), and again in the next call if it fails. */
export function onceAnHour(work: () => Promise<unknown>, now: () => number = Date.now): () => Promise<void> {
  let doneIn: number | undefined;
  return async () => {
    const hour = Math.floor(now() / HOUR_MS);
    if (hour === doneIn) return;
    await work();
    doneIn = hour;
  };
}

const PAUSE_MS = 600_000;

/** Returns a task that does not try `work` for ten minutes after a lock or statement timed out: it rejects with the same error meanwhile. */
export function pausedAfterTimeout<T>(work: () => Promise<T>, now: () => number = Date.now): () => Promise<T> {
  let refused: { readonly error: AppError; readonly until: number } | undefined;
  return async () => {
    if (refused !== undefined && now() < refused.until) throw refused.error;
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError && error.kind === "timeout") refused = { error, until: now() + PAUSE_MS };
      throw error;
    }
  };
}
