import { AppError } from "@brand-records/errors";
import type { GetUsageRequest } from "@brand-records/proto/accounts/v1";

const MINUTE_MS = 60_000;
export const BUCKETS_MAX = 3_000;
export const COUNTS_MAX = 50_000;
export const BUCKET_MINUTES_MAX = 24 * 60;
/** How far a gateway's clock may be ahead. */
export const MINUTES_AHEAD_MAX = 10;

export const CLIENT_NAME_LENGTH_MAX = 64;
/** Names of a key and day that are counted apart: a client may call itself anything, and something else each time. */
export const CLIENT_NAMES_MAX = 20;
/** The name under which the rest is counted. */
export const OTHER_CLIENTS = "other";
export const CLIENT_COUNTS_MAX = 500;

/** What a list of counts is of. */
export type UsageRange = Readonly<Pick<GetUsageRequest, "from" | "to" | "bucket_minutes">>;

export const minuteOf = (milliseconds: number): string => new Date(Math.floor(milliseconds / MINUTE_MS) * MINUTE_MS).toISOString();

/** @throws AppError `invalid_request` if the range is empty or has too many buckets */
export function requireRange({ from, to, bucket_minutes }: UsageRange): void {
  const minutes = (Date.parse(to) - Date.parse(from)) / MINUTE_MS;
  if (minutes <= 0) throw new AppError("invalid_request", "to must be after from", { field: "to" });
  if (minutes / bucket_minutes <= BUCKETS_MAX) return;
  throw new AppError("invalid_request", `The range has more than ${BUCKETS_MAX} buckets; ask for a shorter range or larger buckets`, {
    field: "bucket_minutes",
  });
}

export const tooManyCounts = (): AppError =>
  new AppError("invalid_request", `There are more than ${COUNTS_MAX} counts; ask for a shorter range or larger buckets`, {
    field: "by_key",
  });
