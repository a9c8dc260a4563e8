import { entriesMax } from "@brand-records/lifecycle";
import { openRedis, RedisReplyError, RedisUnavailable, type RedisClient, type RedisLog } from "@brand-records/redis";
import { Counter, Gauge, RepeatedWarning, type Registry } from "@brand-records/telemetry";
import { LRUCache } from "lru-cache";
import { WINDOW_SECONDS, type CountedVerdict, type RateLimiter, type Spend, type Verdict } from "./rate-limiter.ts";
import { spendInRedis } from "./redis-limiter.ts";
import { SlidingWindows } from "./sliding-windows.ts";

/** One process does not decide for more brands within a minute. */
const BRANDS_MAX = 50_000;

export interface ResilientLimiterOptions {
  readonly redisUrl: string;
  readonly redisTlsCa?: string | undefined;
  /** Gets one line for each change of state. */
  readonly log: RedisLog;
  readonly metrics: Registry;
  /** Timeout of a Redis command. */
  readonly commandTimeoutMs: number;
}

interface Undecided {
  readonly kind: "undecided";
  /** The command was sent, and its reply is lost. */
  readonly mayBeCounted: boolean;
}

/**
 * Redis decides while it is available, and the brand's limit holds over all processes. While Redis, or the cluster node
 * of the brand, is unavailable, this process decides over the requests it has accepted itself. It records them all the time, so
 * it does not start with an empty window. The limit is then per process; a metric and a log line report it.
 */
export class ResilientLimiter implements RateLimiter {
  readonly #redis: RedisClient;
  readonly #windows = new SlidingWindows();
  readonly #log: RedisLog;
  readonly #redisUp: Gauge;
  readonly #fallbackDecisions: Counter;
  readonly #errorReplies: Counter;
  readonly #errorReplyWarning: RepeatedWarning;
  /** Brands with requests accepted here in the last minute that Redis does not know: this process must agree to more. */
  readonly #acceptedHere = new LRUCache<string, true>({ ...entriesMax(BRANDS_MAX), ttl: WINDOW_SECONDS * 1_000 });
  #isRedisUp = false;
  /** Time on the clock of `#windows` at which Redis, after a possible loss, knows the whole window again. Until then this process must agree. */
  #redisKnowsFrom = 0;

  constructor({ redisUrl, redisTlsCa, log, metrics, commandTimeoutMs }: ResilientLimiterOptions) {
    this.#log = log;
    this.#redisUp = new Gauge({
      name: "rate_limiter_redis_up",
      help: "1 while Redis decides and the rate limit holds over all processes, 0 while it holds per process",
      registers: [metrics],
    });
    this.#fallbackDecisions = new Counter({
      name: "rate_limiter_fallback_decisions_total",
      help: "Requests decided in this process because Redis was unavailable or had just recovered",
      labelNames: ["verdict"],
      registers: [metrics],
    });
    this.#errorReplies = new Counter({
      name: "rate_limiter_redis_error_replies_total",
      help: "Requests decided in this process because Redis replied with an error for their brand",
      labelNames: ["code"],
      registers: [metrics],
    });
    this.#errorReplyWarning = new RepeatedWarning(log, "redis refuses a brand's keys: the brand's rate limit holds per process");
    this.#redis = openRedis(redisUrl, {
      commandTimeoutMs,
      tlsCa: redisTlsCa,
      onStateChange: (isUp, cause) => this.#redisChanged(isUp, cause),
      onPossibleLoss: () => void (this.#redisKnowsFrom = this.#windows.now() + WINDOW_SECONDS * 1_000_000),
    });
  }

  /**
   * Takes the slot in the local window before calling Redis: its time is then never later than the one Redis records, so the
   * local window is never stricter, and concurrent requests cannot all find the same slot free.
   */
  async spend(spend: Spend): Promise<Verdict> {
    const { brandId, limit, fresh, mayBeCounted } = spend;
    const at = this.#windows.now();
    const mustAgree = at < this.#redisKnowsFrom || this.#acceptedHere.has(brandId);
    const local = this.#windows.spend(brandId, limit, at);
    if (local.kind === "refused" && mustAgree) return this.#decidedHere(brandId, fresh ? local : { kind: "stale" });

    // Sent again, it would count twice. So the limit of this request is per process, as it is while Redis is away.
    if (mayBeCounted === true) return this.#decidedHere(brandId, local);

    const shared = await this.#spendInRedis(spend);
    if (shared.kind === "undecided") return this.#decidedHere(brandId, this.#withoutRedis(spend, local, at, shared));
    if (shared.kind !== "admitted") {
      if (local.kind === "admitted") this.#windows.takeBack(brandId, at);
      return shared;
    }
    if (local.kind === "refused") this.#windows.note(brandId, limit, at);
    return mustAgree && local.kind === "admitted" && local.remaining < shared.remaining ? local : shared;
  }

  /** Resolves once Redis is known to be available or not, so that the first requests are counted in the right place. */
  get firstContact(): Promise<void> {
    return this.#redis.firstContact;
  }

  /** Whether Redis decides. */
  get isRedisUp(): boolean {
    return this.#isRedisUp;
  }

  async stop(): Promise<void> {
    this.#windows.stop();
    await this.#redis.stop();
  }

  async #spendInRedis(spend: Spend): Promise<Verdict | Undecided> {
    try {
      return await spendInRedis(this.#redis, spend);
    } catch (error) {
      // Logged once, when the state changed.
      if (error instanceof RedisUnavailable) return { kind: "undecided", mayBeCounted: error.wasSent };
      if (!(error instanceof RedisReplyError)) throw error;
      this.#errorReplies.inc({ code: error.code });
      this.#errorReplyWarning.write({ err: error, brand_id: spend.brandId });
      return { kind: "undecided", mayBeCounted: false };
    }
  }

  #withoutRedis({ brandId, limit, fresh }: Spend, local: CountedVerdict, at: number, { mayBeCounted }: Undecided): Verdict {
    if (!fresh) {
      if (local.kind === "admitted") this.#windows.takeBack(brandId, at);
      return { kind: "stale", ...(mayBeCounted && { mayBeCounted }) };
    }
    // Slots given back during the call to Redis may have caused the refusal.
    return local.kind === "admitted" ? local : this.#windows.spend(brandId, limit, this.#windows.now());
  }

  #decidedHere(brandId: string, verdict: Verdict): Verdict {
    if (verdict.kind === "admitted") this.#acceptedHere.set(brandId, true);
    this.#fallbackDecisions.inc({ verdict: verdict.kind });
    return verdict;
  }

  #redisChanged(isUp: boolean, cause: unknown): void {
    this.#isRedisUp = isUp;
    this.#redisUp.set(isUp ? 1 : 0);
    if (isUp) {
      this.#log.info({}, "redis is available: the rate limit holds over all processes");
    } else {
      this.#log.warn(
        { err: cause },
        "redis or one of its nodes is unavailable: until it recovers, the rate limit of its brands holds per process",
      );
    }
  }
}
