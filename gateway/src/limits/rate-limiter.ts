/** The length of the window in which `limit` requests are accepted. */
export const WINDOW_SECONDS = 60;

export interface Spend {
  readonly brandId: string;
  /** Accepted requests in any 60 seconds, at least 1. May differ from one call to the next. */
  readonly limit: number;
  /** The brand epoch at which the caller's principal was read. */
  readonly epoch: number;
  /** Whether the principal was verified at accounts after this request arrived, without any cache. */
  readonly fresh: boolean;
  /** Whether an earlier verdict on this request was a stale one that may have counted. */
  readonly mayBeCounted?: boolean;
}

/** `retryAfterSeconds` and `resetSeconds` are rounded up, so a client that waits that long is never too early. */
export type Verdict =
  | {
      readonly kind: "admitted";
      readonly limit: number;
      readonly remaining: number;
      /** Time until the oldest accepted request leaves the window, 0 to 60. */
      readonly resetSeconds: number;
    }
  | {
      readonly kind: "refused";
      readonly limit: number;
      /** Time until a slot is free, unless another request takes it; at least 1. */
      readonly retryAfterSeconds: number;
    }
  /**
   * Nothing was spent: the epoch differs from the one in Redis (older, newer or absent), or cannot be compared.
   * Verify at accounts and call again with `fresh`.
   */
  | {
      readonly kind: "stale";
      /** Redis may have counted the request all the same: its reply is lost. */
      readonly mayBeCounted?: true;
    };

export type CountedVerdict = Exclude<Verdict, { kind: "stale" }>;

/**
 * A sliding window: a request is accepted if fewer than `limit` requests were accepted in the 60 seconds before it, however
 * they were spread. Refused requests do not count.
 */
export interface RateLimiter {
  /** Never rejects because of Redis. */
  spend(spend: Spend): Promise<Verdict>;
  stop(): Promise<void> | void;
}
