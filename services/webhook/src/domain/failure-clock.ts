const HOUR_MS = 3_600_000;
/** A failure this long after another, and no longer, starts the clock: neither one bad hour nor one bad request a month does. */
const APART_MS_MIN = 12 * HOUR_MS;
const APART_MS_MAX = 24 * HOUR_MS;
/** Failures only, from the start of the clock. */
const PATIENCE_MS = 5 * 24 * HOUR_MS;

/** Milliseconds since the epoch; null if there was none since the last success. */
export interface FailureClock {
  /** The failure that the next one is measured from. */
  readonly firstFailureAt: number | null;
  /** The clock runs since then. */
  readonly failingSince: number | null;
}

/** Notes a failure; a success stops the clock by itself: both are null then. */
export function noteOnClock({ firstFailureAt, failingSince }: FailureClock, now: number): { clock: FailureClock; over: boolean } {
  if (failingSince !== null) return { clock: { firstFailureAt, failingSince }, over: now - failingSince >= PATIENCE_MS };
  if (firstFailureAt === null) return { clock: { firstFailureAt: now, failingSince: null }, over: false };
  const apart = now - firstFailureAt;
  if (apart < APART_MS_MIN) return { clock: { firstFailureAt, failingSince: null }, over: false };
  // Too far apart to belong together: measured anew from this one.
  if (apart > APART_MS_MAX) return { clock: { firstFailureAt: now, failingSince: null }, over: false };
  return { clock: { firstFailureAt, failingSince: now }, over: false };
}
