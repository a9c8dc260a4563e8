export interface ManualClock {
  /** Milliseconds since the epoch, like `Date.now`. */
  now(): number;
  advance(milliseconds: number): void;
}

/** A clock that moves only when advanced. `now` can be passed on without the clock. */
export function manualClock(startMs: number): ManualClock {
  let current = startMs;
  return {
    now: () => current,
    advance: (milliseconds) => void (current += milliseconds),
  };
}
