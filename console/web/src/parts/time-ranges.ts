import type { Buckets } from "./usage-buckets.ts";

export interface TimeRange extends Buckets {
  /** Ends now: "the last …". */
  readonly length: string;
  /** The time span of one bar, in words. */
  readonly per: string;
}

/** Ranges of charts, at most 100 bars each. */
export const TIME_RANGES = {
  hour: { length: "hour", per: "minute", bucketMinutes: 1, buckets: 60 },
  day: { length: "24 hours", per: "15 minutes", bucketMinutes: 15, buckets: 96 },
  week: { length: "7 days", per: "2 hours", bucketMinutes: 120, buckets: 84 },
} as const satisfies Record<string, TimeRange>;

/** Returns the range that a URL names, or the default. */
export const nameIn = <Ranges extends object>(ranges: Ranges, name: string | undefined, byDefault: keyof Ranges): keyof Ranges =>
  name !== undefined && Object.hasOwn(ranges, name) ? (name as keyof Ranges) : byDefault;
