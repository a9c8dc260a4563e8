import type { BrandRecordsError } from "./brand-records-error.ts";

export interface ClientOptions {
  /** The service's address, such as `https://records.example`. `undefined`, which a missing setting is, is refused at run time. */
  readonly url: string | URL | undefined;
  /**
   * The API key, which stays on servers. A function is asked for every request, and again if the key is refused: so a key that is replaced
   * in a file is used at once. `undefined` is refused at run time.
   */
  readonly key: string | (() => string | Promise<string>) | undefined;
  /** The brand whose key it should be, `brd_…`. A response of another is refused, and a plan is not sent with its key. */
  readonly expectBrand?: string | undefined;
  /** Milliseconds until a request that is not complete is sent again, or Infinity. Default: 20,000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds for a page or a plan, with all repetitions, waits and calls of `key`, or Infinity. Default: 120,000. */
  readonly deadlineMs?: number | undefined;
  /** The program, in the service's logs, such as `nightly-copy/2.1`. Default: this package and its version. */
  readonly userAgent?: string | undefined;
  /** Default: the runtime's. */
  readonly fetch?: typeof fetch | undefined;
  /** Called before each repetition, to log it. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

/** A failed request that is about to be repeated. */
export interface Retry {
  readonly error: BrandRecordsError;
  /** How often the request was sent. */
  readonly attempts: number;
  /** Milliseconds until it is sent again. */
  readonly delayMs: number;
  /** Below the service's address, with the query. */
  readonly path: string;
}

export interface CallOptions {
  /** Ends the call and its waits. It then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for a page or a plan. Default: the client's. */
  readonly deadlineMs?: number | undefined;
}

export interface ListOptions extends CallOptions {
  /** Records on a page, 1 to 200. Default: 200. */
  readonly limit?: number | undefined;
  /** Where to start: `nextCursor` of an earlier page of the same list and filters. Default: the newest record. */
  readonly cursor?: string | undefined;
}
