import { AppError } from "@brand-records/errors";
import type { ReceiverKey } from "./receiver.ts";

/** Sends every event of a receiver since a time once more, or only those that failed, and shows its progress. */
export interface Replay {
  readonly id: string;
  readonly receiver_id: string;
  readonly since: string;
  readonly until: string;
  readonly queued: number;
  /** Counted up to a bound; never less than `queued`. */
  readonly total: number;
  readonly failed_only: boolean;
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly cancelled_at: string | null;
}

/** Which events to replay. A request that repeats that of an unfinished replay is the same replay. */
export interface ReplayRequest extends ReceiverKey {
  /** RFC 3339, UTC, milliseconds, like `until`. Events created after it. */
  readonly since: string;
  /** Events created until then; null, or a later time, for the start of the replay. */
  readonly until: string | null;
  /** Takes events with a failed delivery to the receiver, no accepted one and none in progress. */
  readonly failedOnly: boolean;
}

export interface ReplayKey {
  readonly brandId: string;
  readonly replayId: string;
}

/** @throws AppError `not_found`, also for another brand's replay or one whose receiver was deleted */
export function requireReplay(replay: Replay | undefined): Replay {
  if (replay === undefined) throw new AppError("not_found", "There is no replay with this id", { field: "replay_id" });
  return replay;
}
