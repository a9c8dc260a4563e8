import type { RecordOf, ResourceName } from "../generated/api.ts";

type Awaitable<Value> = Value | Promise<Value>;

/** A walk that has not ended: what it still has to read, the first list from its cursor. */
export interface SyncProgress {
  /** RFC 3339, by this machine's clock. Identifies the walk. */
  readonly startedAt: string;
  readonly toRead: readonly ListToRead[];
}

export interface ListToRead {
  readonly resource: ResourceName;
  /** Where to go on; undefined for the start. */
  readonly cursor: string | undefined;
}

export interface SyncState {
  /** The brand whose records the copy holds; undefined before the first page. */
  readonly brandId: string | undefined;
  /** The walk that was interrupted, if one was. */
  readonly progress: SyncProgress | undefined;
}

export interface SyncPage {
  readonly brandId: string;
  readonly resource: ResourceName;
  /** As they are listed. Take them whole, also if their `updated_at` is earlier: an operator corrected them. */
  readonly records: readonly RecordOf[ResourceName][];
  /** When the page was requested, by this machine's clock (RFC 3339). Merge the events that were received since: the page may be older. */
  readonly requestedAt: string;
  /** When the service listed it, by its clock (RFC 3339). */
  readonly listedAt: string;
  /** What is left after this page. */
  readonly progress: SyncProgress;
}

/** Where `records.sync` keeps the copy. One walk may write at a time: a store that several processes share needs a lock. */
export interface SyncStore {
  load(): Awaitable<SyncState>;
  /** Replaces the page's records by their ids, and stores brand and progress, **in one transaction**: an interrupted walk goes on after it. */
  writePage(page: SyncPage): Awaitable<void>;
  /** Ends the walk: there is no progress any more. Records that it has not listed are not listed any more. */
  finishWalk(walk: FinishedWalk): Awaitable<void>;
}

export interface FinishedWalk {
  /** The copy is as of then, or later. */
  readonly startedAt: string;
  readonly finishedAt: string;
}
