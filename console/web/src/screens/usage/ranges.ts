import { nameIn, TIME_RANGES, type TimeRange } from "../../parts/time-ranges.ts";

const DAY_MINUTES = 24 * 60;

/** What the page can show: usage is kept for 31 days. */
export const RANGES = {
  ...TIME_RANGES,
  month: { length: "30 days", per: "8 hours", bucketMinutes: 480, buckets: 90 },
} as const satisfies Record<string, TimeRange>;

export type RangeName = keyof typeof RANGES;

export const rangeNamed = (name: string | undefined): RangeName => nameIn(RANGES, name, "day");

/** Buckets of the by-key query: as large as possible, because only their sums and their busiest minute show. */
export const keyBucketMinutes = ({ bucketMinutes, buckets }: TimeRange): number => Math.min(DAY_MINUTES, bucketMinutes * buckets);
