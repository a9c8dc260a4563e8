import type { Buckets } from "../../parts/usage-buckets.ts";

const DAY_MINUTES = 24 * 60;

interface Range extends Buckets {
  /** Ends now: "the last …". */
  readonly length: string;
  /** The time span of one bar, in words. */
  readonly per: string;
}

/** What the page can show: at most 100 bars each. Usage is kept for 31 days. */
export const RANGES = {
  hour: { length: "hour", per: "minute", bucketMinutes: 1, buckets: 60 },
  day: { length: "24 hours", per: "15 minutes", bucketMinutes: 15, buckets: 96 },
  week: { length: "7 days", per: "2 hours", bucketMinutes: 120, buckets: 84 },
  month: { length: "30 days", per: "8 hours", bucketMinutes: 480, buckets: 90 },
} as const satisfies Record<string, Range>;

export type RangeName = keyof typeof RANGES;

export const rangeNamed = (name: string | undefined): RangeName =>
  name !== undefined && Object.hasOwn(RANGES, name) ? (name as RangeName) : "day";

/** Buckets of the by-key query: as large as possible, because only their sums and their busiest minute show. */
export const keyBucketMinutes = ({ bucketMinutes, buckets }: Range): number => Math.min(DAY_MINUTES, bucketMinutes * buckets);
