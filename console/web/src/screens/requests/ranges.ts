import type { Buckets } from "../../parts/usage-buckets.ts";

interface Range extends Buckets {
  readonly label: string;
  /** The time span of one bar, in words. */
  readonly per: string;
}

/** What the page can show, each ending now: failed requests are kept for seven days. */
export const RANGES = {
  hour: { label: "Last hour", per: "minute", bucketMinutes: 1, buckets: 60 },
  day: { label: "Last 24 hours", per: "15 minutes", bucketMinutes: 15, buckets: 96 },
  week: { label: "Last 7 days", per: "2 hours", bucketMinutes: 120, buckets: 84 },
} as const satisfies Record<string, Range>;

export type RangeName = keyof typeof RANGES;

/** Shown without a choice. */
export const RANGE: RangeName = "week";

export const rangeNamed = (name: string | undefined): RangeName =>
  name !== undefined && Object.hasOwn(RANGES, name) ? (name as RangeName) : RANGE;
