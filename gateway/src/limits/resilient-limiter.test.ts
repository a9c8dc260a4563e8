import { randomUUID } from "node:crypto";
import { openRedis, windowKey, type RedisClient } from "@brand-records/redis";
import { Registry } from "@brand-records/telemetry";
import { eventually, startRedisServer, startTcpProxy, type RedisServer } from "@brand-records/testkit";
import type { Spend, Verdict } from "./rate-limiter.ts";
import { ResilientLimiter } from "./resilient-limiter.ts";

const LIMIT = 60;

let server: RedisServer;
let witness: RedisClient;
let limiter: ResilientLimiter;
let metrics: Registry;
let lines: string[];
let brandId: string;

beforeAll(async () => {
  server = await startRedisServer();
  witness = openRedis(server.url, { commandTimeoutMs: 20_000 });
});
beforeEach(() => {
  brandId = newBrand();
});
afterEach(async () => {
  await limiter.stop();
  await server.kill();
  await server.start();
});
afterAll(async () => {
  await witness.stop();
  await server.stop();
});

/** The long default keeps a busy machine from looking like a slow Redis. */
function open(commandTimeoutMs = 20_000, redisUrl = server.url): void {
  lines = [];
  metrics = new Registry();
  const write = (_fields: object, message: string): void => void lines.push(message);
  limiter = new ResilientLimiter({ redisUrl, log: { info: write, warn: write }, metrics, commandTimeoutMs });
}

const newBrand = (): string => `brd_${randomUUID()}`;
const spend = (overrides: Partial<Spend> = {}): Promise<Verdict> =>
  limiter.spend({ brandId, limit: LIMIT, epoch: 1, fresh: true, ...overrides });
const admitted = async (times: number): Promise<number> =>
  (await Promise.all(Array.from({ length: times }, () => spend()))).filter(({ kind }) => kind === "admitted").length;

async function metric(name: string): Promise<number> {
  const { values } = await metrics.getSingleMetric(name)!.get();
  return values.reduce((sum, { value }) => sum + value, 0);
}
const fallbackDecisions = () => metric("rate_limiter_fallback_decisions_total");
const redisIsDown = () => eventually(async () => expect(await metric("rate_limiter_redis_up")).toBe(0));

/** Resolves when a request of another brand is counted in Redis. */
const redisDecides = (): Promise<void> =>
  eventually(async () => {
    const other = newBrand();
    await spend({ brandId: other });
    expect(await witness.run(windowKey(other), (commands) => commands.exists(windowKey(other)))).toBe(1);
    expect(await metric("rate_limiter_redis_up")).toBe(1);
  });

async function killRedis(): Promise<void> {
  await server.kill();
  await redisIsDown();
}

it("decides in process until Redis is first reached, and reports it", async () => {
  await server.kill();
  open();
  expect(await admitted(200)).toBe(LIMIT);
  expect(await fallbackDecisions()).toBe(200);
  await eventually(() => expect(lines.at(-1)).toContain("per process"));
});

it("continues the window in process when Redis fails, without counting refused requests", async () => {
  open();
  await redisDecides();
  expect(await admitted(40)).toBe(40);
  await killRedis();
  expect(await admitted(100)).toBe(20);
  expect(await admitted(100)).toBe(0);
});

it("takes no slot in process for requests that Redis refuses or reports as stale", async () => {
  open();
  await redisDecides();
  for (let i = 0; i < 100; i += 1) expect((await spend({ fresh: false })).kind).toBe("stale");
  expect(await admitted(1)).toBe(1);
  for (let i = 0; i < 100; i += 1) expect((await spend({ limit: 1 })).kind).toBe("refused");
  await killRedis();
  expect(await admitted(100)).toBe(LIMIT - 1);
});

it("reports every cached epoch as stale without Redis, and takes no slot for it", async () => {
  open();
  await redisDecides();
  await spend();
  expect((await spend({ fresh: false })).kind).toBe("admitted");
  await killRedis();
  for (let i = 0; i < 100; i += 1) expect(await spend({ fresh: false })).toEqual({ kind: "stale" });
  expect(await admitted(100)).toBe(LIMIT - 2);
});

it("counts a request once although the reply about it is lost", async () => {
  const { hostname, port } = new URL(server.url);
  const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
  open(2_000, `redis://127.0.0.1:${proxy.port}`);
  const counted = () => witness.run(windowKey(brandId), (commands) => commands.llen(windowKey(brandId)));
  await redisDecides();
  await spend();
  expect(await counted()).toBe(1);
  await proxy.blackhole();
  expect(await spend({ fresh: false })).toEqual({ kind: "stale", mayBeCounted: true });
  await proxy.heal();
  await eventually(async () => expect([await counted(), await metric("rate_limiter_redis_up")]).toEqual([2, 1]));
  expect(await spend({ mayBeCounted: true })).toMatchObject({ kind: "admitted", remaining: LIMIT - 2 });
  expect(await counted()).toBe(2);
  await proxy.stop();
});

it("does not admit twice because Redis came back empty", async () => {
  open();
  await redisDecides();
  expect(await admitted(50)).toBe(50);
  await killRedis();
  expect(await admitted(5)).toBe(5);
  await server.start();
  await redisDecides();
  expect(await spend()).toMatchObject({ kind: "admitted", remaining: 4 });
  expect(await admitted(200)).toBe(4);
  expect(await spend({ fresh: false })).toEqual({ kind: "stale" });
  expect(await witness.run(windowKey(brandId), (commands) => commands.llen(windowKey(brandId)))).toBe(5);
});

describe("an error reply about one brand's key", () => {
  const breakWindow = () => witness.run(windowKey(brandId), (commands) => commands.set(windowKey(brandId), "no list"));

  it("makes this process decide for that brand only, and is counted and logged, but not for every request", async () => {
    open();
    await redisDecides();
    await breakWindow();
    expect(await admitted(200)).toBe(LIMIT);
    const other = newBrand();
    expect((await spend({ brandId: other })).kind).toBe("admitted");
    expect(await witness.run(windowKey(other), (commands) => commands.llen(windowKey(other)))).toBe(1);
    expect(await metric("rate_limiter_redis_up")).toBe(1);
    expect(await metric("rate_limiter_redis_error_replies_total")).toBeGreaterThan(0);
    expect(lines.filter((line) => line.includes("refuses"))).toHaveLength(1);
  });

  it("keeps every request accepted meanwhile when the key is repaired", async () => {
    open();
    await redisDecides();
    await breakWindow();
    expect(await admitted(50)).toBe(50);
    await witness.run(windowKey(brandId), (commands) => commands.del(windowKey(brandId)));
    expect(await admitted(200)).toBe(10);
  });

  it("reports a cached epoch as stale, since it cannot be confirmed", async () => {
    open();
    await redisDecides();
    await spend();
    await breakWindow();
    expect(await spend({ fresh: false })).toEqual({ kind: "stale" });
  });
});
