/** Each bucket ends at 1.1 times the end of the one below, so a duration in its middle is within 5% of every other. */
const RATIO = 1.1;

/** The bucket of attempts that measured nothing. */
export const NO_DURATION = -1;

/** Returns the bucket of a duration: the lowest whose end is not below it. Up to a millisecond is bucket 0. */
export const bucketOf = (durationMs: number): number => (durationMs <= 1 ? 0 : Math.ceil(Math.log(durationMs) / Math.log(RATIO)));

/** Returns the duration in the middle of a bucket, in whole milliseconds. */
export const durationOf = (bucket: number): number => Math.max(1, Math.round(RATIO ** (bucket - 0.5)));

/** Returns the duration that this share of attempts did not exceed, within 5%; null without attempts. @param counts attempts by bucket */
export function quantile(counts: ReadonlyMap<number, number>, share: number): number | null {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  let reached = 0;
  for (const [bucket, count] of [...counts].toSorted(([one], [two]) => one - two)) {
    reached += count;
    if (reached >= share * total) return durationOf(bucket);
  }
  return null;
}
