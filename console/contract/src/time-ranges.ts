const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;

/** The bars of a range. */
export interface Buckets {
  readonly bucketMinutes: number;
  readonly buckets: number;
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The time of a range whose last bar is the one that now is in. Bars begin at full minutes, quarters or hours, in Manila too. */
export function spanOf({ bucketMinutes, buckets }: Buckets, now: number): Span {
  const bucketMs = bucketMinutes * MINUTE_MS;
  const to = (Math.floor(now / bucketMs) + 1) * bucketMs;
  return { from: to - buckets * bucketMs, to };
}

/** The span as services take it. */
export const timesOf = ({ from, to }: Span) => ({ from: new Date(from).toISOString(), to: new Date(to).toISOString() });

/** Ranges of charts, at most 100 bars each: `length` ends now, as in "the last …"; `per` is the time span of one bar. */
export const TIME_RANGES = {
  hour: { length: "hour", per: "minute", bucketMinutes: 1, buckets: 60 },
  day: { length: "24 hours", per: "15 minutes", bucketMinutes: 15, buckets: 96 },
  week: { length: "7 days", per: "2 hours", bucketMinutes: 120, buckets: 84 },
} as const satisfies Record<string, Buckets & { length: string; per: string }>;

/** What the page of failed requests can show: they are kept for seven days. */
export type FailedRangeName = keyof typeof TIME_RANGES;

/** What the page of usage can show: usage is kept for 31 days. */
export const USAGE_RANGES = {
  ...TIME_RANGES,
  month: { length: "30 days", per: "8 hours", bucketMinutes: 480, buckets: 90 },
} as const satisfies Record<string, Buckets & { length: string; per: string }>;

export type UsageRangeName = keyof typeof USAGE_RANGES;

/** Shown without a choice. */
export const USAGE_RANGE: UsageRangeName = "day";
export const FAILED_RANGE: FailedRangeName = "week";
export const ATTEMPT_HOURS = 24;

/** Buckets of the by-key query: as large as possible, because only their sums and their busiest minute show. */
export const keyBucketMinutes = ({ bucketMinutes, buckets }: Buckets): number => Math.min(DAY_MINUTES, bucketMinutes * buckets);

export const HOUR_MS = 3_600_000;

/** The last `hours` whole hours, the present one included: what the bars cover. Stays the same until the next hour begins. */
export const lastHours = (hours: number, now: number) => timesOf(spanOf({ bucketMinutes: 60, buckets: hours }, now));
