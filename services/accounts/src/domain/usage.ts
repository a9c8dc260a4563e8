import { AppError } from "@brand-records/errors";

const MINUTE_MS = 60_000;
export const BUCKETS_MAX = 3_000;
export const COUNTS_MAX = 50_000;
export const BUCKET_MINUTES_MAX = 24 * 60;
/** How far a gateway's clock may be ahead. */
export const MINUTES_AHEAD_MAX = 10;

/** Counts of a key in one minute. */
export interface MinuteUsage {
  readonly brand_id: string;
  readonly key_id: string;
  readonly minute: string;
  readonly accepted: number;
  readonly refused: number;
}

/** Messages of an assistant in one day. */
export interface ClientUsage {
  readonly brand_id: string;
  readonly key_id: string;
  /** In Manila, YYYY-MM-DD. */
  readonly day: string;
  /** As the client declares it. */
  readonly name: string;
  readonly messages: number;
}

/** Messages of an assistant in all days of a range. */
export type ClientCount = Pick<ClientUsage, "key_id" | "name" | "messages">;

export const CLIENT_NAME_LENGTH_MAX = 64;
/** Names of a key and day that are counted apart: a client may call itself anything, and something else each time. */
export const CLIENT_NAMES_MAX = 20;
/** The name under which the rest is counted. */
export const OTHER_CLIENTS = "other";
export const CLIENT_COUNTS_MAX = 500;

export interface UsageQuery {
  readonly brandId: string;
  readonly from: string;
  readonly to: string;
  readonly bucketMinutes: number;
  readonly byKey: boolean;
  readonly byClient: boolean;
}

export interface UsageBucket {
  readonly start: string;
  readonly key_id: string | null;
  readonly accepted: number;
  readonly refused: number;
  readonly peak_accepted: number;
}

export interface Usage {
  readonly buckets: UsageBucket[];
  readonly clients: ClientCount[];
}

export const minuteOf = (milliseconds: number): string => new Date(Math.floor(milliseconds / MINUTE_MS) * MINUTE_MS).toISOString();

/** @throws AppError `invalid_request` if the range is empty or has too many buckets */
export function requireRange({ from, to, bucketMinutes }: Pick<UsageQuery, "from" | "to" | "bucketMinutes">): void {
  const minutes = (Date.parse(to) - Date.parse(from)) / MINUTE_MS;
  if (minutes <= 0) throw new AppError("invalid_request", "to must be after from", { field: "to" });
  if (minutes / bucketMinutes <= BUCKETS_MAX) return;
  throw new AppError("invalid_request", `The range has more than ${BUCKETS_MAX} buckets; ask for a shorter range or larger buckets`, {
    field: "bucket_minutes",
  });
}

export const tooManyCounts = (): AppError =>
  new AppError("invalid_request", `There are more than ${COUNTS_MAX} counts; ask for a shorter range or larger buckets`, {
    field: "by_key",
  });
