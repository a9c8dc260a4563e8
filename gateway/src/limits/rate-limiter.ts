/** The length of the window in which `limit` requests are accepted. */
export const WINDOW_SECONDS = 60;

export interface Spend {
  readonly brandId: string;
  /** Accepted requests in any 60 seconds, at least 1. May differ from one call to the next. */
  readonly limit: number;
  /** The brand epoch at which the caller's principal was read. */
  readonly epoch: number;
  /** The principal was verified at accounts after this request arrived: nothing cached is involved. */
  readonly fresh: boolean;
}

/** Exact: `retryAfterSeconds` and `resetSeconds` are rounded up, so whoever waits them out never comes too early. */
export type Verdict =
  | {
      readonly kind: "admitted";
      readonly limit: number;
      readonly remaining: number;
      /** Until the oldest accepted request leaves the window, 0 to 60. */
      readonly resetSeconds: number;
    }
  | {
      readonly kind: "refused";
      readonly limit: number;
      /** Until a slot is free if nobody else takes it, at least 1. */
      readonly retryAfterSeconds: number;
    }
  /**
   * Nothing was spent: the epoch is not the one Redis holds (which may be older, newer or none), or nobody can say.
   * Verify at accounts and come back with `fresh`.
   */
  | { readonly kind: "stale" };

export type CountedVerdict = Exclude<Verdict, { kind: "stale" }>;

/**
 * A window that slides: a request is accepted if fewer than `limit` were in the 60 seconds before it, however they were
 * spread. Refused ones don't count.
 */
export interface RateLimiter {
  /** Never rejects because of Redis. */
  spend(spend: Spend): Promise<Verdict>;
  stop(): Promise<void> | void;
}
