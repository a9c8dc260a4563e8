import { WakeSignal, withTimeout } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";
import { areReplaysLeft } from "../storage/replays.ts";
import { replayBatch } from "./replay-batch.ts";

const POLL_MS = 1_000;
/** Somebody else has what is left at the moment: a worker of another process, or a sender its lane. */
const BUSY_MS = 25;
/** A batch takes 20 ms, or its database says nothing; cut off, it is taken up by another process. */
const STOP_MS = 2_000;

export interface ReplayWorkerOptions {
  readonly db: Database;
  readonly log: Logger;
}

export interface ReplayWorker {
  /** There may be something to do. */
  wake(): void;
  /** Resolves when the batch under way is committed, or after two seconds without it. */
  stop(): Promise<void>;
}

/** Queues what replays ask for, until it is stopped. Any number of processes share the work. */
export function startReplayWorker({ db, log }: ReplayWorkerOptions): ReplayWorker {
  const stopping = new AbortController();
  const wake = new WakeSignal();

  /** A step of each replay there is, so that none waits for the end of another. Answers whether any came further. */
  const round = async (): Promise<"advanced" | "busy" | "idle"> => {
    const seen: string[] = [];
    let advanced = false;
    while (!stopping.signal.aborted) {
      const batch = await replayBatch(db, seen);
      if (batch === undefined) break;
      seen.push(batch.id);
      advanced ||= batch.state !== "paused";
      const { id, receiver_id, brand_id, queued, queuedInAll } = batch;
      if (queued > 0) log.debug({ replay_id: id, receiver_id, brand_id, queued }, "replayed events queued");
      if (batch.state === "finished") log.info({ replay_id: id, receiver_id, brand_id, queued: queuedInAll }, "replay finished");
    }
    if (advanced) return "advanced";
    return (await areReplaysLeft(db, seen)) ? "busy" : "idle";
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      wake.reset();
      try {
        const came = await round();
        if (came !== "advanced") await wake.wait(came === "busy" ? BUSY_MS : POLL_MS);
      } catch (error) {
        log.warn({ err: error }, "replays cannot be taken further");
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
