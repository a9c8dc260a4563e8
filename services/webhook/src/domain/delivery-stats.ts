/** Attempts of some time. Durations are those of all measured attempts, null without one. */
export interface AttemptStats {
  readonly accepted: number;
  readonly failed: number;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
}

export interface HourOfAttempts {
  /** Start of the hour. */
  readonly hour: string;
  readonly stats: AttemptStats;
}

/** A receiver's attempts by hour, tests excluded. */
export interface DeliveryStats {
  /** Hours with attempts, oldest first. */
  readonly hours: HourOfAttempts[];
  readonly total: AttemptStats;
  /** No attempt before was counted. */
  readonly counted_since: string;
}
