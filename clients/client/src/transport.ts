import { attemptOnce, type Answer, type AttemptRequest } from "./attempt.ts";
import { pause, TimeoutError, withTimeout } from "./abortable.ts";
import { BrandRecordsError } from "./brand-records-error.ts";
import { adviceFor, isUntrusted } from "./lasting-failure.ts";
import type { CallOptions, ClientOptions } from "./options.ts";

const TIMEOUT_MS = 20_000;
const DEADLINE_MS = 120_000;
/** Milliseconds for the question whether an address speaks TLS. */
const TLS_PROBE_MS = 500;

export interface TransportRequest extends Omit<AttemptRequest, "url"> {
  /** Below the service's address, with the query. */
  readonly path: string;
}

/** The cheapest request whose response names the brand of the key. HEAD would not have the service's error, which is in the body. */
const BRAND_REQUEST: TransportRequest = { method: "GET", path: "/api/v1/campaigns?limit=1" };

/** The brand that a response must be of, if one is expected. */
export type ExpectedBrand = string | undefined;

/** A call, with all its repetitions. */
interface Call {
  readonly signal: AbortSignal | undefined;
  /** When it ends, by `performance.now()`. */
  readonly endsAt: number;
  readonly expected: ExpectedBrand;
}

/** Sends requests with the key, and repeats them. Every request must be safe to repeat. */
export class Transport {
  readonly #options: ClientOptions;
  readonly #url: string;
  /** Calls fetch without this object, which some runtimes refuse. */
  readonly #fetch: typeof fetch;
  /** The key that a response has shown to be of the expected brand. */
  #confirmedKey: string | undefined;
  /** Whether a response has shown that `url` leads to a server. */
  #isAnswered = false;

  constructor(options: ClientOptions) {
    this.#options = options;
    requireTime("timeoutMs", options.timeoutMs);
    requireTime("deadlineMs", options.deadlineMs);
    this.#url = readUrl(options.url);
    this.#fetch = (...given) => (options.fetch ?? globalThis.fetch)(...given);
    if (typeof options.key !== "function") requireKey(options.key);
  }

  /**
   * Resolves with a whole, successful response. Repeats what may pass until the deadline, and ends before a wait that it does not leave
   * time for.
   *
   * @throws BrandRecordsError, the last one, TypeError if the deadline is no time, or the signal's reason
   */
  async send(request: TransportRequest, options: CallOptions, expected: ExpectedBrand): Promise<Answer> {
    requireTime("deadlineMs", options.deadlineMs);
    const { signal, deadlineMs = this.#options.deadlineMs ?? DEADLINE_MS } = options;
    const call = { signal, endsAt: performance.now() + deadlineMs, expected };
    let key = await this.#readKey(call, 0);
    let isReplaced = false;
    let before: BrandRecordsError | undefined;
    for (let attempts = 1; ; attempts += 1) {
      try {
        const answer = await this.#sendOnce(request, key, call);
        this.#isAnswered = true;
        return answer;
      } catch (error) {
        if (!(error instanceof BrandRecordsError)) throw error;
        error.attempts = attempts;
        // One that the deadline cut short says less than the one before it. Timers may end a little early.
        if (before !== undefined && error.code === "no_response" && performance.now() + 2 > call.endsAt) {
          before.attempts = attempts;
          throw before;
        }
        this.#isAnswered ||= error.status !== undefined || error.brandId !== undefined;
        if (error.status === 401) {
          // The key may have been replaced while the request was on its way: once, as a function may return another each time.
          const next = await this.#readKey(call, attempts);
          if (next === key || isReplaced) throw error;
          [key, isReplaced] = [next, true];
          continue;
        }
        if (!mayPass(error) || (await this.#isLasting(error, call))) throw error;
        const delayMs = retryDelayMs(error, attempts - 1, Math.random());
        if (performance.now() + delayMs >= call.endsAt) throw error;
        this.#options.onRetry?.({ error, attempts, delayMs, path: request.path });
        before = error;
        await pause(delayMs, signal);
      }
    }
  }

  async #sendOnce(request: TransportRequest, key: string, { signal, endsAt, expected }: Call): Promise<Answer> {
    const { timeoutMs = TIMEOUT_MS, userAgent } = this.#options;
    const attempt = async ({ path, ...rest }: TransportRequest): Promise<Answer> => {
      const answer = await attemptOnce(
        { ...rest, url: this.#url + path },
        { fetch: this.#fetch, key, userAgent, signal, timeoutMs: Math.max(1, Math.min(timeoutMs, endsAt - performance.now())) },
      ).catch((error: unknown) => {
        if (error instanceof BrandRecordsError && error.brandId !== undefined) requireBrand(expected, error.brandId);
        throw error;
      });
      requireBrand(expected, answer.meta.brandId);
      return answer;
    };
    // What a key of the wrong brand made could not be taken back.
    if (request.method === "POST" && expected !== undefined && this.#confirmedKey !== key) {
      await attempt(BRAND_REQUEST);
      this.#confirmedKey = key;
    }
    return attempt(request);
  }

  /**
   * Returns whether repetitions would not change a first failure, and adds what to do to its message. After a response of the server they
   * may, and after another failure: it is restarted, or moves.
   */
  async #isLasting(error: BrandRecordsError, call: Call): Promise<boolean> {
    if (this.#isAnswered || error.attempts > 1) return false;
    const ofScheme = async () =>
      (await this.#isOfHttps(error, call)) ? "what listens there speaks TLS: url must begin with https://" : undefined;
    const advice = adviceFor(error.cause) ?? (await ofScheme());
    if (advice !== undefined) error.message += `: ${advice}`;
    return advice !== undefined;
  }

  /** Asks, without a key, after a first request that was ended without a response: so a server of TLS ends one of HTTP. */
  async #isOfHttps({ cause }: BrandRecordsError, { signal, endsAt }: Call): Promise<boolean> {
    if (!this.#url.startsWith("http:") || cause instanceof TimeoutError) return false;
    const url = this.#url.replace("http:", "https:");
    const leftMs = Math.min(TLS_PROBE_MS, endsAt - performance.now());
    return withTimeout(leftMs, signal, (signal) => this.#fetch(url, { method: "HEAD", redirect: "manual", signal })).then(
      () => true,
      isUntrusted,
    );
  }

  /** @throws what the function throws, BrandRecordsError if it does not end in time, TypeError if it returns none, or the signal's reason */
  async #readKey({ signal, endsAt }: Call, attempts: number): Promise<string> {
    const { key } = this.#options;
    const leftMs = Math.max(1, endsAt - performance.now());
    try {
      return await withTimeout(leftMs, signal, async () => requireKey(typeof key === "function" ? await key() : key));
    } catch (error) {
      if (!(error instanceof TimeoutError)) throw error;
      const late = new BrandRecordsError(`no key: the key function returned ${error.message}`, { code: "no_response" }, { cause: error });
      late.attempts = attempts;
      throw late;
    }
  }
}

/** Returns the address that paths follow. @throws TypeError without the text: it may have a password */
function readUrl(text: string | URL = ""): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username + url.password + url.search + url.hash !== "") {
    throw new TypeError("url must be the service's address, https://…, without user, query and fragment");
  }
  return (url.origin + url.pathname).replace(/\/+$/, "");
}

/** Returns the key without white space around it, as a file has. @throws TypeError without the key: a log may keep it */
function requireKey(key: unknown): string {
  const trimmed = typeof key === "string" ? key.trim() : "";
  if (!/^[!-~]+$/.test(trimmed)) throw new TypeError("key must be an API key, brk_live_… or brk_test_…");
  return trimmed;
}

/** @throws TypeError unless it is left out, or above 0: a call until NaN never ends */
function requireTime(name: string, milliseconds: unknown): void {
  if (milliseconds === undefined || (typeof milliseconds === "number" && milliseconds > 0)) return;
  throw new TypeError(`${name} must be a number of milliseconds above 0`);
}

function requireBrand(expected: ExpectedBrand, brandId: string | undefined): void {
  if (expected === undefined || brandId === expected) return;
  const message =
    brandId === undefined
      ? "the response has no X-Brand-Id: is url the service's address?"
      : `the key is of brand ${brandId}, not of ${expected}`;
  throw new BrandRecordsError(message, { code: "wrong_brand", brandId });
}

const BACKOFF_MS_MIN = 500;
const BACKOFF_MS_MAX = 20_000;

/** Responses that may differ the next time, and no response. A whole page that is cut has the status 200. */
function mayPass({ code, status }: BrandRecordsError): boolean {
  if (code === "wrong_brand") return false;
  return status === undefined || status === 408 || status === 429 || status >= 500 || code === "no_response";
}

/**
 * Returns the milliseconds to wait before the request is sent again. Half of a growing pause is random, so that clients which failed together do
 * not return together; without a fixed half, chance alone made a storm. It comes after a time that the service names: a server that always
 * names one second was asked each second.
 *
 * @param failures before this one
 * @param random from 0 to 1
 */
function retryDelayMs({ retryAfter = 0 }: BrandRecordsError, failures: number, random: number): number {
  return retryAfter * 1_000 + (Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN * 2 ** failures) * (1 + random)) / 2;
}
