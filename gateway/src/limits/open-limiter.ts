import type { RedisLog } from "@brand-records/redis";
import { Counter, type Registry } from "@brand-records/telemetry";
import type { RateLimiter, Spend, Verdict } from "./rate-limiter.ts";
import { ResilientLimiter } from "./resilient-limiter.ts";
import { SlidingWindows } from "./sliding-windows.ts";

export interface LimiterOptions {
  /** Without it the limit holds per process, which suffices for a single gateway. */
  readonly redisUrl: string | undefined;
  /** PEM. */
  readonly redisTlsCa?: string | undefined;
  /** Timeout of a Redis command. */
  readonly commandTimeoutMs: number;
  readonly log: RedisLog;
  readonly metrics: Registry;
}

/** A limiter that reports whether it counts as it should. */
export interface OpenedLimiter extends RateLimiter {
  /** Whether limits hold per process although a Redis is set: it is unavailable. */
  isDegraded(): boolean;
}

/** Resolves once Redis is known to be available or not, after two seconds at most. */
export async function openLimiter({ redisUrl, redisTlsCa, commandTimeoutMs, log, metrics }: LimiterOptions): Promise<OpenedLimiter> {
  if (redisUrl !== undefined) {
    const limiter = new ResilientLimiter({ redisUrl, redisTlsCa, commandTimeoutMs, log, metrics });
    await limiter.firstContact;
    return { ...countDecisions(limiter, metrics), isDegraded: () => !limiter.isRedisUp };
  }
  log.info({}, "REDIS_URL is not set: the rate limit holds per process, and accounts verifies the key of every request");
  return { ...countDecisions(new LocalLimiter(), metrics), isDegraded: () => false };
}

/** Counts every decision of a limiter by its verdict. */
function countDecisions(limiter: RateLimiter, metrics: Registry): RateLimiter {
  const decisions = new Counter({
    name: "rate_limiter_decisions_total",
    help: "Decisions on requests, by verdict. After stale, the key is verified and the limiter decides again.",
    labelNames: ["verdict"],
    registers: [metrics],
  });
  const of = (verdict: Verdict["kind"]): Counter.Internal => decisions.labels({ verdict });
  const byVerdict: Record<Verdict["kind"], Counter.Internal> = { admitted: of("admitted"), refused: of("refused"), stale: of("stale") };
  for (const counter of Object.values(byVerdict)) counter.inc(0);
  return {
    async spend(spend) {
      const verdict = await limiter.spend(spend);
      byVerdict[verdict.kind].inc();
      return verdict;
    },
    stop: () => limiter.stop(),
  };
}

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
