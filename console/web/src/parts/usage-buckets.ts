import type { Output } from "@brand-records/console-contract";
import type { Buckets, Span } from "@brand-records/console-contract/time-ranges";

const MINUTE_MS = 60_000;

type Bucket = Output<"usage.get">["buckets"][number];

export interface Counts {
  readonly accepted: number;
  readonly refused: number;
  /** Accepted in the busiest minute of the clock. */
  readonly peak: number;
}

/**
 * What follows the requests of the busiest minute: the limit that they are compared with. The gateway's window begins anywhere, so a minute of the
 * clock may have fewer: 120 and 120 in two halves are 240 at once. A refusal proves that a window reached the limit, but that may have been the
 * limit of an earlier plan.
 *
 * @param limit of the brand's plan; undefined for a brand that may make no requests
 */
export function besideLimit({ refused }: Pick<Counts, "refused">, limit: number | undefined): string {
  if (refused > 0) return " or more, limit reached";
  return limit === undefined ? "" : ` of ${limit.toLocaleString("en-PH")}`;
}

export const NONE: Counts = { accepted: 0, refused: 0, peak: 0 };

const sum = (a: Counts, { accepted, refused, peak_accepted }: Bucket): Counts => ({
  accepted: a.accepted + accepted,
  refused: a.refused + refused,
  peak: Math.max(a.peak, peak_accepted),
});

/** The start of every bucket of a range, in milliseconds since the epoch. */
export const startsOf = ({ buckets, bucketMinutes }: Buckets, { from }: Omit<Span, "to"> & Partial<Span>): number[] =>
  Array.from({ length: buckets }, (_, index) => from + index * bucketMinutes * MINUTE_MS);

/** Every bucket of a range from its start; those that the response leaves out had no requests. */
export function everyBucket(
  buckets: readonly Bucket[],
  range: Buckets,
  span: Omit<Span, "to"> & Partial<Span>,
): (Counts & { readonly start: number })[] {
  const byStart = new Map(buckets.map((bucket) => [Date.parse(bucket.start), bucket]));
  return startsOf(range, span).map((start) => {
    const bucket = byStart.get(start);
    return { start, ...(bucket === undefined ? NONE : sum(NONE, bucket)) };
  });
}

export const totalOf = (buckets: readonly Bucket[]): Counts => buckets.reduce(sum, NONE);

/** The counts of each key that made a request, by its id. */
export function countsByKey(buckets: readonly Bucket[]): Map<string, Counts> {
  const counts = new Map<string, Counts>();
  for (const bucket of buckets) {
    if (bucket.key_id !== null) counts.set(bucket.key_id, sum(counts.get(bucket.key_id) ?? NONE, bucket));
  }
  return counts;
}

/** Returns the range that a URL names, or the default. */
export const nameIn = <Ranges extends object>(ranges: Ranges, name: string | undefined, byDefault: keyof Ranges): keyof Ranges =>
  name !== undefined && Object.hasOwn(ranges, name) ? (name as keyof Ranges) : byDefault;
