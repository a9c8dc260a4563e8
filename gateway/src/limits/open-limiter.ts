import type { RedisLog } from "@brand-records/redis";
import type { Registry } from "@brand-records/telemetry";
import { LocalLimiter } from "./local-limiter.ts";
import type { RateLimiter } from "./rate-limiter.ts";
import { ResilientLimiter } from "./resilient-limiter.ts";

export interface LimiterOptions {
  /** Without one the limit holds per process, which is what a single gateway needs. */
  readonly redisUrl: string | undefined;
  /** How long Redis may take. */
  readonly commandTimeoutMs: number;
  readonly log: RedisLog;
  readonly metrics: Registry;
}

/** Ready whether Redis can be reached or not, once it is known which: two seconds at most. */
export async function openLimiter({ redisUrl, commandTimeoutMs, log, metrics }: LimiterOptions): Promise<RateLimiter> {
  if (redisUrl !== undefined) {
    const limiter = new ResilientLimiter({ redisUrl, commandTimeoutMs, log, metrics });
    await limiter.firstContact;
    return limiter;
  }
  log.info({}, "no redis is set: the rate limit holds per process, and every request's key is verified at accounts");
  return new LocalLimiter();
}
