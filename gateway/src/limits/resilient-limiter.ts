import { openRedis, RedisReplyError, RedisUnavailable, type RedisLog } from "@brand-records/redis";
import { Counter, Gauge, RepeatedWarning, type Registry } from "@brand-records/telemetry";
import { LRUCache } from "lru-cache";
import { WINDOW_SECONDS, type CountedVerdict, type RateLimiter, type Spend, type Verdict } from "./rate-limiter.ts";
import { RedisLimiter } from "./redis-limiter.ts";
import { SlidingWindows } from "./sliding-windows.ts";

/** More brands than this are not decided here within a minute by one process. */
const BRANDS_MAX = 50_000;

export interface ResilientLimiterOptions {
  readonly redisUrl: string;
  /** Gets one line at each change of state. */
  readonly log: RedisLog;
  readonly metrics: Registry;
  /** How long Redis may take; that of openRedis unless told otherwise. */
  readonly commandTimeoutMs?: number;
}

/**
 * Redis decides while it answers, and the bound is the brand's over all processes. Without Redis, or the node of a cluster that has
 * the brand, this process decides,
 * over the requests that it has accepted itself: it takes note of them all the time, so it does not begin with an empty
 * window. The bound is then per process, which a metric and a log line say.
 */
export class ResilientLimiter implements RateLimiter {
  readonly #redis: RedisLimiter;
  readonly #windows = new SlidingWindows();
  readonly #log: RedisLog;
  readonly #redisUp: Gauge;
  readonly #fallbackDecisions: Counter;
  readonly #errorReplies: Counter;
  readonly #errorReplyWarning: RepeatedWarning;
  /** Brands whose requests were accepted here in the last minute, without Redis' knowledge: this process must agree to more. */
  readonly #acceptedHere = new LRUCache<string, true>({ max: BRANDS_MAX, ttl: WINDOW_SECONDS * 1_000 });
  /** Redis may have forgotten requests from before. Until then, on the clock of `#windows`, this process must agree. */
  #redisKnowsFrom = 0;

  constructor({ redisUrl, log, metrics, ...timing }: ResilientLimiterOptions) {
    this.#log = log;
    this.#redisUp = new Gauge({
      name: "rate_limiter_redis_up",
      help: "1 while Redis decides and the rate limit holds over all processes, 0 while it holds per process",
      registers: [metrics],
    });
    this.#fallbackDecisions = new Counter({
      name: "rate_limiter_fallback_decisions_total",
      help: "Requests that were decided in this process because Redis could not be asked or had just come back",
      labelNames: ["verdict"],
      registers: [metrics],
    });
    this.#errorReplies = new Counter({
      name: "rate_limiter_redis_error_replies_total",
      help: "Requests that were decided in this process because Redis answered with an error about their brand",
      labelNames: ["code"],
      registers: [metrics],
    });
    this.#errorReplyWarning = new RepeatedWarning(log, "redis refuses a brand's keys: the brand's rate limit holds per process");
    const redis = openRedis(redisUrl, {
      ...timing,
      onStateChange: (isUp, cause) => this.#redisChanged(isUp, cause),
      onPossibleLoss: () => void (this.#redisKnowsFrom = this.#windows.now() + WINDOW_SECONDS * 1_000_000),
    });
    this.#redis = new RedisLimiter(redis);
  }

  /**
   * The own window takes the slot before Redis is asked: its time is then never later than the one Redis notes, so the
   * window is no stricter; and requests that run at the same time cannot all find the same slot free.
   */
  async spend(spend: Spend): Promise<Verdict> {
    const { brandId, limit, fresh } = spend;
    const at = this.#windows.now();
    const mustAgree = at < this.#redisKnowsFrom || this.#acceptedHere.has(brandId);
    const own = this.#windows.spend(brandId, limit, at);
    if (own.kind === "refused" && mustAgree) return this.#decidedHere(brandId, fresh ? own : { kind: "stale" });

    const shared = await this.#askRedis(spend);
    if (shared === undefined) return this.#decidedHere(brandId, this.#withoutRedis(spend, own, at));
    if (shared.kind !== "admitted") {
      if (own.kind === "admitted") this.#windows.takeBack(brandId, at);
      return shared;
    }
    if (own.kind === "refused") this.#windows.note(brandId, limit, at);
    return mustAgree && own.kind === "admitted" && own.remaining < shared.remaining ? own : shared;
  }

  /** Resolves once it is known whether Redis answers: from then on the first requests are counted where they should be. */
  get firstContact(): Promise<void> {
    return this.#redis.firstContact;
  }

  async stop(): Promise<void> {
    this.#windows.stop();
    await this.#redis.stop();
  }

  async #askRedis(spend: Spend): Promise<Verdict | undefined> {
    try {
      return await this.#redis.spend(spend);
    } catch (error) {
      if (error instanceof RedisUnavailable) return undefined; // Logged once, when the state changed.
      if (!(error instanceof RedisReplyError)) throw error;
      this.#errorReplies.inc({ code: error.code });
      this.#errorReplyWarning.write({ err: error, brand_id: spend.brandId });
      return undefined;
    }
  }

  #withoutRedis({ brandId, limit, fresh }: Spend, own: CountedVerdict, at: number): Verdict {
    if (!fresh) {
      if (own.kind === "admitted") this.#windows.takeBack(brandId, at);
      return { kind: "stale" };
    }
    // What refused may have been slots that were given back while Redis was being asked.
    return own.kind === "admitted" ? own : this.#windows.spend(brandId, limit, this.#windows.now());
  }

  #decidedHere(brandId: string, verdict: Verdict): Verdict {
    if (verdict.kind === "admitted") this.#acceptedHere.set(brandId, true);
    this.#fallbackDecisions.inc({ verdict: verdict.kind });
    return verdict;
  }

  #redisChanged(isUp: boolean, cause: unknown): void {
    this.#redisUp.set(isUp ? 1 : 0);
    if (isUp) {
      this.#log.info({}, "redis answers: the rate limit holds over all processes");
    } else {
      this.#log.warn(
        { err: cause },
        "redis is unavailable, or a node of it: until it answers, the rate limit of its brands holds per process",
      );
    }
  }
}
