import type { RedisLog } from "@brand-records/redis";
import type { Registry } from "@brand-records/telemetry";
import { LocalLimiter } from "./local-limiter.ts";
import type { RateLimiter } from "./rate-limiter.ts";
import { ResilientLimiter } from "./resilient-limiter.ts";

export interface LimiterOptions {
  /** Without one the limit holds per process, which is what a single gateway needs. */
  readonly redisUrl: string | undefined;
  readonly log: RedisLog;
  readonly metrics: Registry;
}

/** Ready at once, whether Redis can be reached or not. */
export function openLimiter({ redisUrl, log, metrics }: LimiterOptions): RateLimiter {
  if (redisUrl !== undefined) return new ResilientLimiter({ redisUrl, log, metrics });
  log.info({}, "no redis is set: the rate limit holds per process, and every request's key is verified at accounts");
  return new LocalLimiter();
}
