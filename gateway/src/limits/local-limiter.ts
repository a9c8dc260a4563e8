import type { RateLimiter, Spend, Verdict } from "./rate-limiter.ts";
import { SlidingWindows } from "./sliding-windows.ts";

/** Limiter of a single process, without Redis. It cannot confirm a cached epoch, so it counts fresh principals only. */
export class LocalLimiter implements RateLimiter {
  readonly #windows: SlidingWindows;

  /** @param nowMs a monotonic clock; fractions count */
  constructor(nowMs?: () => number) {
    this.#windows = new SlidingWindows(nowMs);
  }

  async spend({ brandId, limit, fresh }: Spend): Promise<Verdict> {
    return fresh ? this.#windows.spend(brandId, limit, this.#windows.now()) : { kind: "stale" };
  }

  /** Brands held in memory. */
  get size(): number {
    return this.#windows.size;
  }

  stop(): void {
    this.#windows.stop();
  }
}
