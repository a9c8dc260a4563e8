import { AppError } from "@brand-records/errors";
import { requireRange, type UsageRange } from "./usage.ts";

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

/** @throws AppError `invalid_request` if the range is empty, longer than what is kept, or has too many buckets */
export function requireFailuresRange(range: UsageRange): void {
  requireRange(range);
  // A day more: a range of seven days in whole hours begins before that of seven days in minutes.
  if (Date.parse(range.to) - Date.parse(range.from) <= (FAILURES_KEEP_DAYS + 1) * DAY_MS) return;
  throw new AppError("invalid_request", `Failed requests are kept for ${FAILURES_KEEP_DAYS} days; ask for a shorter range`, {
    field: "from",
  });
}

/** Returns a group's request ids. @param ids of its counts, the newest count first, each oldest first */
export const newestIds = (ids: readonly (readonly string[])[]): string[] =>
  ids.flatMap((of) => of.toReversed()).slice(0, GROUP_REQUEST_IDS_MAX);
