import { randomUUID } from "node:crypto";
import { EPOCH_TTL_SECONDS, epochKey, openRedis, publishEpoch, windowKey, type RedisClient } from "@brand-records/redis";
import { eventually } from "@brand-records/testkit";
import { spendInRedis } from "./redis-limiter.ts";

let redis: RedisClient;
let brandId: string;

beforeAll(async () => {
  redis = openRedis(process.env["TEST_REDIS_URL"]!, { commandTimeoutMs: 20_000 });
  await eventually(() => expect(redis.isUp).toBe(true));
});
beforeEach(() => {
  brandId = `brd_${randomUUID()}`;
});
afterAll(() => redis.stop());

const spend = (epoch: number, fresh: boolean, limit = 60) => spendInRedis(redis, { brandId, limit, epoch, fresh });
const storedEpoch = () => redis.run(epochKey(brandId), (commands) => commands.get(epochKey(brandId)));
const spent = () => redis.run(windowKey(brandId), (commands) => commands.llen(windowKey(brandId)));

describe("a cached epoch", () => {
  it("is valid while it is the one Redis holds", async () => {
    await publishEpoch(redis, brandId, 7);
    expect(await spend(7, false)).toEqual({ kind: "admitted", limit: 60, remaining: 59, resetSeconds: 60 });
  });

  it.each([
    ["older than", 6],
    ["newer than", 8],
    ["another number that begins like", 70],
  ])("is stale when it is %s the one Redis holds, and nothing is spent or written", async (_how, epoch) => {
    await publishEpoch(redis, brandId, 7);
    expect(await spend(epoch, false)).toEqual({ kind: "stale" });
    expect(await spent()).toBe(0);
    expect(await storedEpoch()).toBe("7");
  });

  it("is stale when Redis holds none, and nothing is spent or written", async () => {
    expect(await spend(7, false)).toEqual({ kind: "stale" });
    expect(await spent()).toBe(0);
    expect(await storedEpoch()).toBeNull();
  });

  it("is stale rather than refused when the window is full, so a revoked key gets invalid_key and not rate_limited", async () => {
    for (let i = 0; i < 60; i += 1) await spend(7, true);
    await publishEpoch(redis, brandId, 8);
    expect(await spend(7, false)).toEqual({ kind: "stale" });
  });
});

describe("a fresh epoch", () => {
  it.each([
    ["none", undefined],
    ["an older one", 6],
  ])("is stored for an hour if Redis' copy is %s, and spends", async (_which, stored) => {
    if (stored !== undefined) await publishEpoch(redis, brandId, stored);
    expect((await spend(7, true)).kind).toBe("admitted");
    expect(await storedEpoch()).toBe("7");
    const ttl = await redis.run(epochKey(brandId), (commands) => commands.ttl(epochKey(brandId)));
    expect(ttl).toBeGreaterThan(0);
    expect(ttl).toBeLessThanOrEqual(EPOCH_TTL_SECONDS);
  });

  it("never lowers a newer copy, and spends", async () => {
    await publishEpoch(redis, brandId, 8);
    expect((await spend(7, true)).kind).toBe("admitted");
    expect(await storedEpoch()).toBe("8");
    expect(await spent()).toBe(1);
  });

  it("is stored even if the request is refused", async () => {
    await spend(7, true, 1);
    expect((await spend(8, true, 1)).kind).toBe("refused");
    expect(await storedEpoch()).toBe("8");
  });
});

describe("the window in Redis", () => {
  it("expires a minute after the last accepted request, whatever is refused meanwhile", async () => {
    await spend(1, true, 1);
    const ttlMs = await redis.run(windowKey(brandId), (commands) => commands.pttl(windowKey(brandId)));
    expect(ttlMs).toBeGreaterThan(0);
    expect(ttlMs).toBeLessThanOrEqual(60_000);
    await redis.run(windowKey(brandId), (commands) => commands.pexpire(windowKey(brandId), 30_000));
    expect((await spend(1, true, 1)).kind).toBe("refused");
    expect(await redis.run(windowKey(brandId), (commands) => commands.pttl(windowKey(brandId)))).toBeLessThanOrEqual(30_000);
  });

  it("takes less than 4 KB for 240 requests and never holds more requests", async () => {
    await Promise.all(Array.from({ length: 500 }, () => spend(1, true, 240)));
    expect(await spent()).toBe(240);
    const bytes = await redis.run(windowKey(brandId), (commands) => commands.memory("USAGE", windowKey(brandId), "SAMPLES", 0));
    expect(bytes).toBeLessThan(4_096);
  });

  it("holds whole microseconds, newest first", async () => {
    for (let i = 0; i < 3; i += 1) await spend(1, true);
    const entries = await redis.run(windowKey(brandId), (commands) => commands.lrange(windowKey(brandId), 0, -1));
    for (const entry of entries) expect(entry).toMatch(/^\d{16}$/);
    expect(entries).toEqual(entries.toSorted().toReversed());
  });

  it("continues from its newest entry when the clock of Redis is set back", async () => {
    await spend(1, true, 2);
    const [entry] = await redis.run(windowKey(brandId), (commands) => commands.lrange(windowKey(brandId), 0, 0));
    const ahead = String(Number(entry) + 40_000_000);
    await redis.run(windowKey(brandId), (commands) => commands.lset(windowKey(brandId), 0, ahead));
    expect(await spend(1, true, 2)).toEqual({ kind: "admitted", limit: 2, remaining: 0, resetSeconds: 60 });
    expect(await redis.run(windowKey(brandId), (commands) => commands.lrange(windowKey(brandId), 0, -1))).toEqual([ahead, ahead]);
    expect(await spend(1, true, 2)).toEqual({ kind: "refused", limit: 2, retryAfterSeconds: 60 });
  });
});
