import { attemptOnce, type Answer, type AttemptRequest } from "./attempt.ts";
import { pause, TimeoutError, withTimeout } from "./abortable.ts";
import { BrandRecordsError } from "./brand-records-error.ts";
import type { CallOptions, ClientOptions } from "./options.ts";

const TIMEOUT_MS = 20_000;
const DEADLINE_MS = 120_000;

export interface TransportRequest extends Omit<AttemptRequest, "url"> {
  /** Below the service's address, with the query. */
  readonly path: string;
}

/** The cheapest request whose response names the brand of the key. HEAD would not have the service's error, which is in the body. */
const BRAND_REQUEST: TransportRequest = { method: "GET", path: "/api/v1/campaigns?limit=1" };

interface Sending {
  readonly key: string;
  readonly signal: AbortSignal | undefined;
  /** Milliseconds until the deadline. */
  readonly leftMs: number;
}

interface KeyReading {
  readonly signal: AbortSignal | undefined;
  /** When the call ends, by `performance.now()`. */
  readonly endsAt: number;
  /** How often the request was sent before. */
  readonly attempts: number;
}

/** The brand that a response must be of, if one is expected. */
export type ExpectedBrand = string | undefined;

/** Sends requests with the key, and repeats them. Every request must be safe to repeat. */
export class Transport {
  readonly #options: ClientOptions;
  readonly #url: string;
  /** The key that a response has shown to be of the expected brand. */
  #confirmedKey: string | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#url = readUrl(options.url);
    if (typeof options.key !== "function") requireKey(options.key);
  }

  /**
   * Resolves with a whole, successful response. Repeats what may pass until the deadline, and ends before a wait that it does not leave
   * time for.
   *
   * @throws BrandRecordsError, the last one, or the signal's reason
   */
  async send(request: TransportRequest, options: CallOptions, expected: ExpectedBrand): Promise<Answer> {
    const { signal, deadlineMs = this.#options.deadlineMs ?? DEADLINE_MS } = options;
    const endsAt = performance.now() + deadlineMs;
    let key = await this.#readKey({ signal, endsAt, attempts: 0 });
    let isReplaced = false;
    for (let [attempts, failures] = [1, 0]; ; attempts += 1) {
      try {
        return await this.#sendOnce(request, { key, signal, leftMs: endsAt - performance.now() }, expected);
      } catch (error) {
        if (!(error instanceof BrandRecordsError)) throw error;
        error.attempts = attempts;
        if (error.status === 401) {
          // The key may have been replaced while the request was on its way: once, as a function may return another each time.
          const next = await this.#readKey({ signal, endsAt, attempts });
          if (next === key || isReplaced) throw error;
          [key, isReplaced] = [next, true];
          continue;
        }
        const delayMs = retryDelayMs(error, failures, Math.random());
        if (!mayPass(error) || performance.now() + delayMs >= endsAt) throw error;
        if (error.status !== 429) failures += 1;
        this.#options.onRetry?.({ error, attempts, delayMs, path: request.path });
        await pause(delayMs, signal);
      }
    }
  }

  async #sendOnce(request: TransportRequest, { key, signal, leftMs }: Sending, expected: ExpectedBrand): Promise<Answer> {
    const { fetch = globalThis.fetch, timeoutMs = TIMEOUT_MS } = this.#options;
    const attempt = async ({ path, ...rest }: TransportRequest): Promise<Answer> => {
      const answer = await attemptOnce(
        { ...rest, url: this.#url + path },
        // Called without this object, which some runtimes refuse.
        { fetch: (...given) => fetch(...given), key, signal, timeoutMs: Math.max(1, Math.min(timeoutMs, leftMs)) },
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

  /** @throws what the function throws, BrandRecordsError if it does not end in time, TypeError if it returns none, or the signal's reason */
  async #readKey({ signal, endsAt, attempts }: KeyReading): Promise<string> {
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
 * Returns the milliseconds to wait before the request is sent again: Retry-After in full, and a random part, so that clients which
 * failed together do not return together. It grows with the failures, but not with responses that the limit refused and timed.
 *
 * @param failures before this one, less the refusals by the limit
 * @param random from 0 to 1
 */
function retryDelayMs({ status, retryAfter }: BrandRecordsError, failures: number, random: number): number {
  const isTimed = status === 429 && retryAfter !== undefined;
  const ceiling = isTimed ? BACKOFF_MS_MIN : Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN * 2 ** failures);
  return (retryAfter ?? 0) * 1_000 + random * ceiling;
}
