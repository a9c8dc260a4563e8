import { randomUUID } from "node:crypto";
import { keySlot, SLOTS, windowKey } from "@brand-records/redis";
import { Registry } from "@brand-records/telemetry";
import { sendRedisCommand, eventually, startRedisCluster, type RedisClusterServers } from "@brand-records/testkit";
import { ResilientLimiter } from "./resilient-limiter.ts";

/** One promise: while a shard fails over, its brands are counted per process for a moment, and no request is refused. */

const LIMIT = 60;

let cluster: RedisClusterServers;
beforeAll(async () => {
  // Masters that a busy machine stops for longer suspect each other, and two of three may then serve none of their brands for a moment.
  cluster = await startRedisCluster({ replicas: true, nodeTimeoutMs: 3_000 });
}, 60_000);
afterAll(() => cluster.stop());

const shardOf = (brandId: string): number => Math.floor((keySlot(windowKey(brandId)) * 3) / SLOTS);

/** Sends the whole limit of one brand after another, brands of the given shards only, through a limiter with separate metrics. */
class ShardTraffic {
  readonly #metrics = new Registry();
  readonly #shards: readonly number[];
  readonly limiter: ResilientLimiter;
  readonly brands: string[] = [];
  readonly refusals: unknown[] = [];
  requests = 0;
  fallbacks = 0;
  firstFallbackAt = Number.NaN;
  lastFallbackAt = Number.NaN;
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(...shards: number[]) {
    this.#shards = shards;
    const log = { info: () => {}, warn: () => {} };
    // Longer than in production, so that a busy machine causes no timeout.
    this.limiter = new ResilientLimiter({ redisUrl: cluster.url, log, metrics: this.#metrics, commandTimeoutMs: 2_000 });
  }

  start(): void {
    this.#running = this.#send();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  more(requests: number): Promise<void> {
    const goal = this.requests + requests;
    return eventually(() => expect(this.requests).toBeGreaterThan(goal), { timeoutMs: 30_000 });
  }

  async #send(): Promise<void> {
    while (!this.#isStopped) {
      const brandId = `brd_${randomUUID()}`;
      if (!this.#shards.includes(shardOf(brandId))) continue;
      this.brands.push(brandId);
      for (let sent = 0; sent < LIMIT; sent += 1) await this.#one(brandId);
    }
  }

  async #one(brandId: string): Promise<void> {
    const verdict = await this.limiter.spend({ brandId, limit: LIMIT, epoch: 1, fresh: true });
    this.requests += 1;
    if (verdict.kind !== "admitted") this.refusals.push({ brandId, verdict });
    const { values } = await this.#metrics.getSingleMetric("rate_limiter_fallback_decisions_total")!.get();
    const fallbacks = values.reduce((sum, { value }) => sum + value, 0);
    if (fallbacks > this.fallbacks) {
      this.lastFallbackAt = performance.now();
      if (this.fallbacks === 0) this.firstFallbackAt = this.lastFallbackAt;
    }
    this.fallbacks = fallbacks;
    await new Promise(setImmediate);
  }
}

const promotion = async (url: string): Promise<number> => {
  await eventually(async () => expect(await sendRedisCommand(url, "INFO replication")).toContain("role:master"), {
    timeoutMs: 30_000,
    everyMs: 5,
  });
  return performance.now();
};

it.each([
  ["is killed", 0, (shard: number) => cluster.masters[shard]!.kill(), async () => {}],
  ["freezes", 1, (shard: number) => cluster.masters[shard]!.freeze(), (shard: number) => cluster.masters[shard]!.thaw()],
  [
    "hands over to its replica",
    2,
    (shard: number) => sendRedisCommand(cluster.replicas[shard]!.url, "CLUSTER FAILOVER").then(() => {}),
    async () => {},
  ],
])(
  "when a master %s, its brands are decided in process until its replica serves them, and no other brand is affected",
  async (how, shard, disturb, repair) => {
    const [affected, others] = [new ShardTraffic(shard), new ShardTraffic(...[0, 1, 2].filter((other) => other !== shard))];
    try {
      await Promise.all([affected.limiter.firstContact, others.limiter.firstContact]);
      for (const traffic of [affected, others]) traffic.start();
      await Promise.all([affected.more(300), others.more(300)]);
      expect([affected.fallbacks, others.fallbacks]).toEqual([0, 0]);

      const disturbedAt = performance.now();
      await disturb(shard);
      const promotedAt = await promotion(cluster.replicas[shard]!.url);
      // The brand's window on the new master shows that Redis decides again.
      await eventually(
        async () => {
          const brandId = affected.brands.at(-1)!;
          expect(Number(await sendRedisCommand(cluster.replicas[shard]!.url, `LLEN ${windowKey(brandId)}`))).toBeGreaterThan(0);
        },
        { timeoutMs: 30_000 },
      );
      await Promise.all([affected.more(300), others.more(300)]);
      await repair(shard);
      await Promise.all([affected.more(300), others.more(300)]);
      await Promise.all([affected.stop(), others.stop()]);

      expect([affected.refusals, others.refusals]).toEqual([[], []]);
      // A command that a busy machine answers after 20 ms costs a few decisions, a master that is away nearly all.
      expect(others.fallbacks).toBeLessThan(others.requests / 100);
      // All of it took less than a minute, so every admitted request still counts, even those the new master had not copied.
      for (const traffic of [affected, others]) {
        const kinds = await Promise.all(
          traffic.brands
            .slice(-300)
            .map(async (brandId) => (await traffic.limiter.spend({ brandId, limit: LIMIT, epoch: 1, fresh: true })).kind),
        );
        expect(new Set(kinds)).toEqual(new Set(["refused"]));
      }
      const ms = (value: number): string => (Number.isNaN(value) ? "none" : `${Math.round(value)} ms`);
      process.stdout.write(
        `A master ${how}: promoted after ${ms(promotedAt - disturbedAt)}; in process for ${ms(affected.lastFallbackAt - affected.firstFallbackAt)} ` +
          `(${affected.fallbacks} of ${affected.requests} requests), ${ms(affected.lastFallbackAt - promotedAt)} of that after the promotion\n`,
      );
    } finally {
      await Promise.all([affected.stop(), others.stop()]);
      await Promise.all([affected.limiter.stop(), others.limiter.stop()]);
    }
  },
  120_000,
);
