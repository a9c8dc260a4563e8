import type { RateLimiter, Spend, Verdict } from "./rate-limiter.ts";
import { SlidingWindows } from "./sliding-windows.ts";

/** For a single process, without Redis. Nobody can vouch for a cached epoch here, so only what is fresh is counted. */
export class LocalLimiter implements RateLimiter {
  readonly #windows: SlidingWindows;

  /** @param nowMs a clock that never goes back; fractions count */
  constructor(nowMs?: () => number) {
    this.#windows = new SlidingWindows(nowMs);
  }

  async spend({ brandId, limit, fresh }: Spend): Promise<Verdict> {
    return fresh ? this.#windows.spend(brandId, limit, this.#windows.now()) : { kind: "stale" };
  }

  /** Brands that take up memory. */
  get size(): number {
    return this.#windows.size;
  }

  stop(): void {
    this.#windows.stop();
  }
}
