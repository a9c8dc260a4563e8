import { AppError } from "@brand-records/errors";
import type { Replay as Message } from "@brand-records/proto/webhook/v1";
import type { RowOf } from "@brand-records/proto/rows";
import type { ReceiverKey } from "./receiver.ts";

/** Sends every event of a receiver since a time once more, or only those that failed, and shows its progress. */
export type Replay = RowOf<Message>;

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
