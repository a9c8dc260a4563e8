import { startRedisServer, type RedisServer } from "@brand-records/testkit";
import { COMMITTED_MAX, committedEpochs, rememberCommittedEpochs } from "./committed-epochs.ts";
import { openRedis } from "./open-redis.ts";
import type { RedisClient } from "./redis-client.ts";

let server: RedisServer;
let redis: RedisClient;
beforeAll(async () => {
  server = await startRedisServer();
  redis = openRedis(server.url, { commandTimeoutMs: 5_000 });
  await redis.firstContact;
});
beforeEach(() => redis.run("any", (commands) => commands.flushall()));
afterAll(async () => {
  await redis.stop();
  await server.stop();
});

const brands = (count: number, from = 1): Map<string, number> =>
  new Map(Array.from({ length: count }, (_, i) => [`brd_${from + i}`, 1_700_000_000_000 + from + i]));

it("is empty at first, and remembers nothing of nothing", async () => {
  await rememberCommittedEpochs(redis, new Map());
  expect(await committedEpochs(redis)).toEqual(new Map());
});

it("keeps the higher epoch of a brand whatever the order", async () => {
  await rememberCommittedEpochs(redis, new Map([["brd_1", 7]]));
  await rememberCommittedEpochs(redis, new Map([["brd_1", 5]]));
  await rememberCommittedEpochs(redis, new Map([["brd_1", 6]]));
  expect(await committedEpochs(redis)).toEqual(new Map([["brd_1", 7]]));
});

it("distinguishes the largest possible epochs", async () => {
  await rememberCommittedEpochs(redis, new Map([["brd_1", 2 ** 53 - 2]]));
  await rememberCommittedEpochs(redis, new Map([["brd_1", 2 ** 53 - 1]]));
  expect(await committedEpochs(redis)).toEqual(new Map([["brd_1", 2 ** 53 - 1]]));
});

it("keeps the newest hundred, of one call and of many", async () => {
  await rememberCommittedEpochs(redis, brands(5_000));
  expect(await committedEpochs(redis)).toEqual(brands(COMMITTED_MAX, 4_901));
  await rememberCommittedEpochs(redis, brands(1, 9_000));
  const found = await committedEpochs(redis);
  expect(found.size).toBe(COMMITTED_MAX);
  expect(found.has("brd_9000")).toBe(true);
  expect(found.has("brd_4901")).toBe(false);
});

it("expires, in a month", async () => {
  await rememberCommittedEpochs(redis, brands(1));
  expect(await redis.run("any", (commands) => commands.ttl("committed:epochs"))).toBeGreaterThan(29 * 24 * 3_600);
});
