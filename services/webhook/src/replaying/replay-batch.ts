import type { Database, Sql } from "@brand-records/postgres";
import { idSequence } from "@brand-records/typeid";
import { insertDeliveries } from "../storage/intake.ts";
import { advanceReplay, eventsAhead, takeReplay, waitsBeyond, type TakenReplay } from "../storage/replays.ts";

/** Looked at, and at most queued, in one transaction: some 20 ms, for which the receiver's lane is held. */
export const REPLAY_BATCH_EVENTS = 500;
/**
 * While more wait for the receiver nothing is queued for it: the table of what is to be sent stays small, and so does what a
 * member who changes their mind must wait for.
 */
export const REPLAY_WAITING_MAX = 10_000;

const nextDeliveryId = idSequence("dlv");

export interface Batch extends TakenReplay {
  /** `paused`: too many of its deliveries wait. */
  readonly state: "advanced" | "paused" | "finished";
  /** In this batch. */
  readonly queued: number;
  /** By all of its batches. */
  readonly queuedInAll: number;
}

/**
 * Takes one replay a step further: deliveries and its position are one transaction, so whoever goes on after a kill neither
 * repeats nor misses any. Any number of processes may do it at once.
 *
 * @param except replays to leave alone this time
 * @returns undefined if there is none, or others have them all
 */
export function replayBatch(db: Database, except: readonly string[]): Promise<Batch | undefined> {
  return db.transaction(async (sql) => {
    const replay = await takeReplay(sql, except);
    if (replay === undefined) return undefined;
    if (await waitsBeyond(sql, replay.receiver_id, REPLAY_WAITING_MAX)) return { ...replay, state: "paused", queued: 0, queuedInAll: 0 };
    return queueNext(sql, replay);
  });
}

async function queueNext(sql: Sql, replay: TakenReplay): Promise<Batch> {
  const events = await eventsAhead(sql, replay.id, REPLAY_BATCH_EVENTS);
  const deliveries = events
    .filter(({ replayed }) => replayed)
    .map(({ id, created_at }) => ({
      id: nextDeliveryId(),
      receiver_id: replay.receiver_id,
      event_id: id,
      event_created_at: created_at,
    }));
  if (deliveries.length > 0) await insertDeliveries(sql, deliveries);
  const finished = events.length < REPLAY_BATCH_EVENTS;
  const queued = deliveries.length;
  const queuedInAll = await advanceReplay(sql, replay.id, { to: events.at(-1), queued, finished });
  return { ...replay, state: finished ? "finished" : "advanced", queued, queuedInAll };
}
