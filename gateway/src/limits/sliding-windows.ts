import { WINDOW_SECONDS, type CountedVerdict } from "./rate-limiter.ts";

const WINDOW_MICROS = WINDOW_SECONDS * 1_000_000;
const SWEEP_EVERY_MS = 30_000;

/**
 * The window of every brand, in the memory of this process. A brand holds one number per request accepted in the last
 * minute; an idle brand is removed at most 90 seconds after its last request. Times are whole microseconds, as in Redis.
 */
export class SlidingWindows {
  readonly #nowMs: () => number;
  readonly #acceptedByBrand = new Map<string, number[]>();
  readonly #sweeper: NodeJS.Timeout;

  /** @param nowMs a monotonic clock; fractions count */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
    this.#sweeper = setInterval(() => this.#removeIdleBrands(), SWEEP_EVERY_MS).unref();
  }

  now(): number {
    return Math.round(this.#nowMs() * 1_000);
  }

  /** Takes a slot if one is free. `now` must be a fresh value of `now()`. */
  spend(brandId: string, limit: number, now: number): CountedVerdict {
    const accepted = this.#acceptedByBrand.get(brandId) ?? [];
    const limitThNewest = accepted.at(-limit);
    if (limitThNewest !== undefined && !hasLeft(limitThNewest, now)) {
      return { kind: "refused", limit, retryAfterSeconds: secondsUntilLeaving(limitThNewest, now) };
    }
    const young = accepted.findIndex((at) => !hasLeft(at, now));
    accepted.splice(0, young === -1 ? accepted.length : young);
    accepted.push(now);
    this.#acceptedByBrand.set(brandId, accepted);
    return { kind: "admitted", limit, remaining: limit - accepted.length, resetSeconds: secondsUntilLeaving(accepted[0]!, now) };
  }

  /** Records a request that was accepted elsewhere, even beyond the limit. */
  note(brandId: string, limit: number, at: number): void {
    const accepted = this.#acceptedByBrand.get(brandId) ?? [];
    accepted.splice(accepted.findLastIndex((other) => other <= at) + 1, 0, at);
    accepted.splice(0, accepted.length - limit);
    this.#acceptedByBrand.set(brandId, accepted);
  }

  /** Undoes a `spend` that was admitted at time `at`. */
  takeBack(brandId: string, at: number): void {
    const accepted = this.#acceptedByBrand.get(brandId);
    const index = accepted?.lastIndexOf(at) ?? -1;
    if (index !== -1) accepted?.splice(index, 1);
  }

  /** Brands held in memory. */
  get size(): number {
    return this.#acceptedByBrand.size;
  }

  stop(): void {
    clearInterval(this.#sweeper);
  }

  #removeIdleBrands(): void {
    const now = this.now();
    for (const [brandId, accepted] of this.#acceptedByBrand) {
      const newest = accepted.at(-1);
      if (newest === undefined || hasLeft(newest, now)) this.#acceptedByBrand.delete(brandId);
    }
  }
}

function hasLeft(at: number, now: number): boolean {
  return now - at >= WINDOW_MICROS;
}

function secondsUntilLeaving(at: number, now: number): number {
  return Math.ceil((at + WINDOW_MICROS - now) / 1_000_000);
}
