import { WakeSignal, withTimeout } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";
import { hasUnfinishedReplays } from "../storage/replays.ts";
import { replayBatch } from "./replay-batch.ts";

const POLL_MS = 1_000;
/** Pause while every unfinished replay is locked: by a worker of another process, or its lane by a sender. */
const BUSY_MS = 25;
/** A batch takes 20 ms unless the database does not respond. Another process continues one that is cut off. */
const STOP_MS = 2_000;

export interface ReplayWorker {
  wake(): void;
  /** Resolves when the current batch is committed, or after two seconds. */
  stop(): Promise<void>;
}

/**
 * Queues the events of replays until it is stopped. Any number of processes share the work.
 *
 * @param turn resolves when the next batch may begin. Default: at once
 */
export function startReplayWorker(db: Database, log: Logger, turn?: () => Promise<void>): ReplayWorker {
  const stopping = new AbortController();
  const wake = new WakeSignal();

  /** Advances each replay by one batch, so that none waits until another ends. */
  const round = async (): Promise<"advanced" | "busy" | "idle"> => {
    const seen: string[] = [];
    let advanced = false;
    while (!stopping.signal.aborted) {
      const batch = await replayBatch(db, seen);
      if (batch === undefined) break;
      seen.push(batch.id);
      advanced ||= batch.state !== "paused";
      const { id, receiver_id, brand_id, queued, queuedTotal } = batch;
      if (queued > 0) log.debug({ replay_id: id, receiver_id, brand_id, queued }, "replayed events queued");
      if (batch.state === "finished") log.info({ replay_id: id, receiver_id, brand_id, queued: queuedTotal }, "replay finished");
      // After a batch: a look that finds none, many a second while another process has the replay, costs other background work nothing.
      await turn?.();
    }
    if (advanced) return "advanced";
    return (await hasUnfinishedReplays(db, seen)) ? "busy" : "idle";
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      wake.reset();
      try {
        const progress = await round();
        if (progress !== "advanced") await wake.wait(progress === "busy" ? BUSY_MS : POLL_MS);
      } catch (error) {
        log.warn({ err: error }, "replays cannot be advanced");
        await wake.wait(POLL_MS);
      }
    }
  };

  const running = run();
  return {
    wake: () => wake.notify(),
    async stop() {
      stopping.abort();
      wake.notify();
      await withTimeout(running, STOP_MS);
    },
  };
}
