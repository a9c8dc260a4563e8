import type { RedisLog } from "@brand-records/redis";
import type { Registry } from "@brand-records/telemetry";
import { countDecisions } from "./counted-limiter.ts";
import { LocalLimiter } from "./local-limiter.ts";
import type { RateLimiter } from "./rate-limiter.ts";
import { ResilientLimiter } from "./resilient-limiter.ts";

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
