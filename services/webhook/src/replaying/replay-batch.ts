import type { Database, Sql } from "@brand-records/postgres";
import { idSequence } from "@brand-records/ids";
import { insertReplayedDeliveries } from "../storage/deliveries.ts";
import { advanceReplay, eventsAhead, hasPendingBeyond, takeReplay, type TakenReplay } from "../storage/replays.ts";

/** Events read, and at most queued, in one transaction. It takes about 20 ms, during which the receiver's lane is locked. */
export const REPLAY_BATCH_EVENTS = 500;
/**
 * While the receiver has more pending deliveries, its replay pauses. The deliveries table stays small, and so does the time
 * that dropping them takes when a member changes their mind.
 */
export const REPLAY_PENDING_MAX = 10_000;

const nextDeliveryId = idSequence("dlv");

export interface Batch extends TakenReplay {
  /** `paused`: the receiver has too many pending deliveries. */
  readonly state: "advanced" | "paused" | "finished";
  readonly queued: number;
  readonly queuedTotal: number;
}

/**
 * Advances one replay by a batch. Deliveries and position are written in one transaction, so the worker that continues after a
 * kill neither repeats nor misses an event. Safe to run in any number of processes.
 *
 * @param except replays to skip
 * @returns undefined if every other replay is finished or locked
 */
export function replayBatch(db: Database, except: readonly string[]): Promise<Batch | undefined> {
  return db.transaction(async (sql) => {
    const replay = await takeReplay(sql, except);
    if (replay === undefined) return undefined;
    if (await hasPendingBeyond(sql, replay.receiver_id, REPLAY_PENDING_MAX))
      return { ...replay, state: "paused", queued: 0, queuedTotal: 0 };
    return queueNext(sql, replay);
  });
}

async function queueNext(sql: Sql, replay: TakenReplay): Promise<Batch> {
  const events = await eventsAhead(sql, replay, REPLAY_BATCH_EVENTS);
  const deliveries = events
    .filter(({ replayed }) => replayed)
    .map(({ id, created_at, type }) => ({
      id: nextDeliveryId(),
      receiver_id: replay.receiver_id,
      event_id: id,
      event_created_at: created_at,
      event_type: type,
    }));
  if (deliveries.length > 0) await insertReplayedDeliveries(sql, replay, deliveries);
  const finished = events.length < REPLAY_BATCH_EVENTS;
  const queued = deliveries.length;
  const queuedTotal = await advanceReplay(sql, replay.id, { to: events.at(-1), queued, finished });
  return { ...replay, state: finished ? "finished" : "advanced", queued, queuedTotal };
}
