import { AppError } from "@brand-records/errors";

/** All events of a receiver since a time, sent once more: how far it has come. */
export interface Replay {
  readonly id: string;
  readonly receiver_id: string;
  readonly since: string;
  readonly until: string;
  readonly queued: number;
  /** As far as they were counted; never less than `queued`. */
  readonly total: number;
  readonly finished_at: string | null;
}

/** Which replay, and whose. */
export interface ReplayKey {
  readonly brandId: string;
  readonly replayId: string;
}

/** Also for another brand's replay, and for one of a receiver that is gone. */
export const noSuchReplay = (): AppError => new AppError("not_found", "There is no replay of this id", { field: "replay_id" });
