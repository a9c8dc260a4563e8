export interface ManualClock {
  /** Milliseconds since the epoch, like `Date.now`. */
  now(): number;
  advance(milliseconds: number): void;
}

/** Time that passes only when told to. `now` can be handed on by itself. */
export function manualClock(startMs: number): ManualClock {
  let current = startMs;
  return {
    now: () => current,
    advance: (milliseconds) => void (current += milliseconds),
  };
}
