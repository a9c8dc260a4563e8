const HOUR_MS = 3_600_000;
/** Two failures this far apart start the clock. One bad hour does not, nor does one bad request a month. */
const APART_MS_MIN = 12 * HOUR_MS;
const APART_MS_MAX = 24 * HOUR_MS;
/** Time from the start of the clock, with failures only. */
const FAILING_MS_MAX = 5 * 24 * HOUR_MS;

/** Milliseconds since the epoch. A success resets both to null. */
export interface FailureClock {
  /** The failure from which the next one is measured; null if there was none since the last success. */
  readonly firstFailureAt: number | null;
  /** When the clock started; null if it is not running. */
  readonly failingSince: number | null;
}

/** Records a failure. The clock has run out after five days of failures only. */
export function recordFailure({ firstFailureAt, failingSince }: FailureClock, now: number): { clock: FailureClock; hasRunOut: boolean } {
  if (failingSince !== null) return { clock: { firstFailureAt, failingSince }, hasRunOut: now - failingSince >= FAILING_MS_MAX };
  if (firstFailureAt === null) return { clock: { firstFailureAt: now, failingSince: null }, hasRunOut: false };
  const apart = now - firstFailureAt;
  if (apart < APART_MS_MIN) return { clock: { firstFailureAt, failingSince: null }, hasRunOut: false };
  // Too far apart to belong together: the next failure is measured from this one.
  if (apart > APART_MS_MAX) return { clock: { firstFailureAt: now, failingSince: null }, hasRunOut: false };
  return { clock: { firstFailureAt, failingSince: now }, hasRunOut: false };
}
