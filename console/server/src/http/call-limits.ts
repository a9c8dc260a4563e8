import { AppError } from "@brand-records/errors";
import { entriesMax } from "@brand-records/lifecycle";
import { LRUCache } from "lru-cache";

const WINDOW_MS = 60_000;
/** Beyond it the callers seen longest ago are forgotten. */
const CALLERS_MAX = 20_000;

/** Bounds the calls of each caller in this process: against scripts gone wild and guessed tokens, not a quota that anyone relies on. */
export class CallLimit {
  readonly #calls = new LRUCache<string, { count: number; readonly endsAt: number }>(entriesMax(CALLERS_MAX));
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Counts a call.
   *
   * @throws AppError `rate_limited` for each call beyond the limit in the caller's minute
   */
  spend(caller: string, now: number = Date.now()): void {
    let window = this.#calls.get(caller);
    if (window === undefined || window.endsAt <= now) {
      window = { count: 0, endsAt: now + WINDOW_MS };
      this.#calls.set(caller, window);
    }
    window.count += 1;
    if (window.count <= this.#max) return;
    const retryAfterSeconds = Math.ceil((window.endsAt - now) / 1_000);
    throw new AppError("rate_limited", `Too many requests. Wait ${retryAfterSeconds} s, then try again.`, { retryAfterSeconds });
  }

  /** Whether the caller has used up the limit. Counts nothing. */
  isUsedUp(caller: string, now: number = Date.now()): boolean {
    const window = this.#calls.get(caller);
    return window !== undefined && window.endsAt > now && window.count >= this.#max;
  }
}
