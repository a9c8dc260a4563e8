import { AppError } from "@brand-records/errors";

/** Sends every event of a receiver since a time once more, and shows its progress. */
export interface Replay {
  readonly id: string;
  readonly receiver_id: string;
  readonly since: string;
  readonly until: string;
  readonly queued: number;
  /** Counted up to a bound; never less than `queued`. */
  readonly total: number;
  readonly finished_at: string | null;
}

/** Identifies a replay together with its brand. */
export interface ReplayKey {
  readonly brandId: string;
  readonly replayId: string;
}

/** @throws AppError `not_found`, also for another brand's replay or one whose receiver was deleted */
export function requireReplay(replay: Replay | undefined): Replay {
  if (replay === undefined) throw new AppError("not_found", "There is no replay with this id", { field: "replay_id" });
  return replay;
}
