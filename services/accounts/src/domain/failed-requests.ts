import { AppError } from "@brand-records/errors";
import { requireRange, type UsageQuery } from "./usage.ts";

const DAY_MS = 86_400_000;

export const FAILURES_KEEP_DAYS = 7;
/** Counts of a brand: one for each minute, key, route, code and field. The oldest go first. 2 MB. */
export const FAILURES_PER_BRAND_MAX = 10_000;
/** Request ids of a count. */
export const REQUEST_IDS_MAX = 3;
/** Request ids of a group. */
export const GROUP_REQUEST_IDS_MAX = 5;
export const GROUPS_MAX = 200;

/** Names of fields: no room for a value. `*` stands for every name that the operation's input does not have. */
export const FIELD = /^([a-z][a-z_]{0,40}|\*)?$/;
/** Method and path of an operation, and of an assistant's message its method and tool. */
export const ROUTE = /^[A-Z]{1,20} \/[a-z0-9*/-]{1,60}( [A-Za-z/_]{1,60}){0,2}$/;

/** Requests of a key that were refused or failed in the same way in one minute. */
export interface FailedMinute {
  readonly brand_id: string;
  readonly key_id: string;
  readonly minute: string;
  readonly route: string;
  readonly code: string;
  readonly field: string;
  readonly requests: number;
  /** Oldest first. */
  readonly request_ids: readonly string[];
}

/** Null fields do not filter. */
export interface FailedRequestsQuery extends Pick<UsageQuery, "brandId" | "from" | "to" | "bucketMinutes"> {
  readonly keyId: string | null;
  readonly route: string | null;
  readonly code: string | null;
  readonly field: string | null;
}

/** Requests that were refused or failed in the same way. */
export interface FailedGroup {
  readonly key_id: string;
  readonly route: string;
  readonly code: string;
  readonly field: string;
  readonly requests: number;
  /** Minutes. */
  readonly first_at: string;
  readonly last_at: string;
  /** Newest first. */
  readonly request_ids: string[];
}

export interface FailedRequests {
  /** Those with the most requests first. */
  readonly groups: FailedGroup[];
  readonly has_more_groups: boolean;
  readonly buckets: { readonly start: string; readonly requests: number }[];
  /** Requests before this minute are missing; null if none are. */
  readonly counted_since: string | null;
}

/** @throws AppError `invalid_request` if the range is empty, longer than what is kept, or has too many buckets */
export function requireFailuresRange(query: FailedRequestsQuery): void {
  requireRange(query);
  // A day more: a range of seven days in whole hours begins before that of seven days in minutes.
  if (Date.parse(query.to) - Date.parse(query.from) <= (FAILURES_KEEP_DAYS + 1) * DAY_MS) return;
  throw new AppError("invalid_request", `Failed requests are kept for ${FAILURES_KEEP_DAYS} days; ask for a shorter range`, {
    field: "from",
  });
}

/** Returns a group's request ids. @param ids of its counts, the newest count first, each oldest first */
export const newestIds = (ids: readonly (readonly string[])[]): string[] =>
  ids.flatMap((of) => of.toReversed()).slice(0, GROUP_REQUEST_IDS_MAX);
