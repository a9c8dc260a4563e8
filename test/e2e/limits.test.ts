import { windowKey } from "@brand-records/redis";
import { Redis } from "ioredis";
import { callContext, startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";

/** One promise: a brand gets exactly its limit of requests in any 60 seconds, over all keys and gateways. */

let redis: Redis;
let stack: SharedStack;

beforeAll(async () => {
  redis = new Redis(process.env["TEST_REDIS_URL"] ?? "");
  stack = await startOnSharedServices({}, 2);
});
afterAll(async () => {
  await stack.stop();
  redis.disconnect();
});

async function burst(count: number, send: (index: number) => Promise<Response>): Promise<{ admitted: number; refused: Response[] }> {
  const responses = await Promise.all(Array.from({ length: count }, (_, index) => send(index)));
  const refused = responses.filter(({ status }) => status === 429);
  expect(new Set(responses.map(({ status }) => status))).toEqual(refused.length > 0 ? new Set([200, 429]) : new Set([200]));
  return { admitted: count - refused.length, refused };
}

/** Lets time pass for a brand by making its admitted requests older. */
async function age(brand: TestBrand, seconds: number): Promise<void> {
  const key = windowKey(brand.id);
  const times = await redis.lrange(key, 0, -1);
  const older = times.map((time) => String(BigInt(time) - BigInt(seconds) * 1_000_000n));
  await redis
    .multi()
    .del(key)
    .rpush(key, ...older)
    .expire(key, 60)
    .exec();
}

it("admits 60 of a burst of 100 on a Plus key", async () => {
  const brand = await stack.createBrand();
  const startedAt = performance.now();
  const { admitted, refused } = await burst(100, () => stack.get("/api/v1/links", brand.key));
  const elapsed = (performance.now() - startedAt) / 1_000;
  expect(admitted).toBe(60);
  for (const response of refused) {
    const [, seconds] = /^"brand";r=0;t=(\d+)$/.exec(response.headers.get("ratelimit") ?? "") ?? [];
    expect(Number(seconds)).toBeGreaterThanOrEqual(60 - elapsed);
    expect(Number(seconds)).toBeLessThanOrEqual(60);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(await response.json()).toMatchObject({ error: { code: "rate_limited" } });
  }
});

it("admits 60 over two keys and two gateways; unknown paths and invalid parameters count, refusals do not", async () => {
  const brand = await stack.createBrand();
  const second = await stack.createKey(brand);
  const keys = [brand.key, second.secret];
  for (const path of ["/api/v1/foo", "/api/v1/links?limit=0", "/api/nothing"]) await stack.get(path, brand.key);
  const { admitted } = await burst(117, (index) => stack.get("/api/v1/links", keys[index % 2] ?? "", (index >> 1) % 2));
  expect(admitted).toBe(57);
});

it("admits the next request after Retry-After", async () => {
  const brand = await stack.createBrand();
  await burst(60, () => stack.get("/api/v1/links", brand.key));
  const refused = await stack.get("/api/v1/links", brand.key, 1);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("x-brand-id")).toBe(brand.id);
  await age(brand, Number(refused.headers.get("retry-after")));
  expect((await stack.get("/api/v1/links", brand.key, 1)).status).toBe(200);
});

it("enforces the lower limit right after a downgrade in the middle of a window", async () => {
  const brand = await stack.createBrand({ tier: "pro" });
  const startedAt = performance.now();
  expect((await burst(100, () => stack.get("/api/v1/links", brand.key))).admitted).toBe(100);
  await age(brand, 30);
  expect((await burst(30, () => stack.get("/api/v1/links", brand.key))).admitted).toBe(20);
  await stack.accounts.setBrandTier({ brand_id: brand.id, tier: "plus" }, callContext());
  // 120 in the window, 60 allowed: the 60th newest is one of the first 100, and is 30 seconds old.
  const refused = await stack.get("/api/v1/links", brand.key);
  expect(refused.status).toBe(429);
  const elapsed = (performance.now() - startedAt) / 1_000;
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(30 - elapsed);
  expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(30);
  await age(brand, 30);
  expect((await burst(60, () => stack.get("/api/v1/links", brand.key, 1))).admitted).toBe(40);
});

it.each([
  ["pro", 120],
  ["enterprise", 240],
])("a brand on %s gets %i", async (tier, limit) => {
  const brand = await stack.createBrand({ tier });
  const { admitted } = await burst(limit + 20, (index) => stack.get("/api/v1/links", brand.key, index % 2));
  expect(admitted).toBe(limit);
});

it("enforces the limit in process without Redis", async () => {
  const single = await startOnSharedServices({ REDIS_URL: "" });
  try {
    const brand = await single.createBrand();
    expect((await burst(100, () => single.get("/api/v1/links", brand.key))).admitted).toBe(60);
  } finally {
    await single.stop();
  }
});
