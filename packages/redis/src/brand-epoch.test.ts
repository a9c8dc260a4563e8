import { randomUUID } from "node:crypto";
import { eventually } from "@brand-records/testkit";
import { EPOCH_TTL_SECONDS, epochKey, publishEpoch } from "./brand-epoch.ts";
import { openRedis } from "./open-redis.ts";
import type { RedisClient } from "./redis-client.ts";

let redis: RedisClient;

beforeAll(async () => {
  redis = openRedis(process.env["TEST_REDIS_URL"]!, { commandTimeoutMs: 20_000 });
  await eventually(() => expect(redis.isUp).toBe(true));
});

afterAll(() => redis.stop());

const stored = (brandId: string) => redis.run(epochKey(brandId), (commands) => commands.get(epochKey(brandId)));

it("raises an epoch and never lowers it, comparing numbers and not text", async () => {
  const brandId = `brd_${randomUUID()}`;
  await publishEpoch(redis, brandId, 9);
  expect(await stored(brandId)).toBe("9");
  await publishEpoch(redis, brandId, 10);
  expect(await stored(brandId)).toBe("10");
  await publishEpoch(redis, brandId, 9);
  expect(await stored(brandId)).toBe("10");
});

it("distinguishes the largest possible epochs", async () => {
  const brandId = `brd_${randomUUID()}`;
  await publishEpoch(redis, brandId, 2 ** 53 - 2);
  await publishEpoch(redis, brandId, 2 ** 53 - 1);
  expect(await stored(brandId)).toBe(String(2 ** 53 - 1));
});

it("ends at the highest epoch whatever the order of publishing", async () => {
  const brandId = `brd_${randomUUID()}`;
  await Promise.all([3, 12, 7, 1, 11, 100, 99].map((epoch) => publishEpoch(redis, brandId, epoch)));
  expect(await stored(brandId)).toBe("100");
});

it.each([
  ["an older", 4],
  ["the same", 5],
  ["a newer", 6],
])("keeps the epoch for another hour when %s one is published", async (_which, epoch) => {
  const brandId = `brd_${randomUUID()}`;
  await publishEpoch(redis, brandId, 5);
  await redis.run(epochKey(brandId), (commands) => commands.expire(epochKey(brandId), 10));
  await publishEpoch(redis, brandId, epoch);
  const ttl = await redis.run(epochKey(brandId), (commands) => commands.ttl(epochKey(brandId)));
  expect(ttl).toBeGreaterThan(10);
  expect(ttl).toBeLessThanOrEqual(EPOCH_TTL_SECONDS);
});
