import { eventually, startRedisServer, type RedisServer } from "@brand-records/testkit";
import { metricOf } from "../admin-port.ts";
import { startClients, type RunningClients } from "../clients-in-turn.ts";
import { startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: a Redis that fails makes no request fail, and every process recovers. */

/** More than twice the longest client timeout. */
const FROZEN_MS = 5_000;
const AS_IN_PRODUCTION = { REDIS_COMMAND_TIMEOUT_MS: "20" };

let redis: RedisServer;
let stack: Stack;
let brand: TestBrand;

beforeAll(async () => {
  redis = await startRedisServer();
  stack = await startStack({
    gateways: 2,
    redisUrl: redis.url,
    env: { RATE_LIMIT_PLUS: "100000", LOG_LEVEL: "info", ...AS_IN_PRODUCTION },
  });
  brand = await stack.createBrand();
});
afterAll(async () => {
  await stack.stop();
  await redis.stop();
});

interface Request {
  readonly status: number;
  readonly ms: number;
}

/** Runs `work` while two clients at each gateway send one request after another. */
async function underTraffic(work: (traffic: RunningClients<Request>) => Promise<void>): Promise<readonly Request[]> {
  const traffic = startClients(4, async (n) => {
    const startedAt = performance.now();
    const { status } = await stack.get("/api/v1/links", brand.key, n % 2);
    return { status, ms: performance.now() - startedAt };
  });
  try {
    await work(traffic);
  } finally {
    await traffic.stop();
  }
  return traffic.results;
}

const slowestMs = (requests: readonly Request[]): number => Math.max(...requests.map(({ ms }) => ms));

const moreRequests = ({ results }: RunningClients<Request>, count: number) => {
  const before = results.length;
  return eventually(() => expect(results.length).toBeGreaterThan(before + count), { timeoutMs: 30_000 });
};

/** Returns whether each gateway reaches Redis, by its metric. */
async function redisUp(): Promise<number[]> {
  return Promise.all(stack.gateways.map(({ process }) => metricOf(process, "rate_limiter_redis_up")));
}

const untilRedisIs = (up: 0 | 1) => eventually(async () => expect(await redisUp()).toEqual([up, up]), { timeoutMs: 30_000 });

let usualMs = 0;
beforeAll(async () => {
  await untilRedisIs(1);
  usualMs = slowestMs(await underTraffic((traffic) => moreRequests(traffic, 500)));
});

function report(what: string, requests: readonly Request[]): void {
  expect([...new Set(requests.map(({ status }) => status))]).toEqual([200]);
  process.stdout.write(
    `Redis ${what}: ${requests.length} requests, all 200; the slowest took ${slowestMs(requests).toFixed(0)} ms (${usualMs.toFixed(0)} ms with Redis)\n`,
  );
}

it("serves every request while Redis is frozen for five seconds", async () => {
  const traffic = await underTraffic(async (traffic) => {
    await moreRequests(traffic, 50);
    await redis.freeze();
    const thawAt = Date.now() + FROZEN_MS;
    await untilRedisIs(0);
    await eventually(() => expect(Date.now()).toBeGreaterThan(thawAt), { timeoutMs: 2 * FROZEN_MS });
    await redis.thaw();
    await untilRedisIs(1);
    await moreRequests(traffic, 100);
  });
  report("frozen for 5 s", traffic);
});

it("serves every request while Redis is killed and started again, empty", async () => {
  const traffic = await underTraffic(async (traffic) => {
    await moreRequests(traffic, 50);
    await redis.kill();
    await untilRedisIs(0);
    await moreRequests(traffic, 100);
    await redis.start();
    await untilRedisIs(1);
    await moreRequests(traffic, 100);
  });
  report("killed and started again", traffic);
});

it("starts gateways without Redis: each enforces the limit in process", async () => {
  await redis.kill();
  const second = await startStack({ redisUrl: redis.url, env: AS_IN_PRODUCTION });
  try {
    const { key } = await second.createBrand();
    const statuses = await Promise.all(Array.from({ length: 70 }, async () => (await second.get("/api/v1/links", key)).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  } finally {
    await redis.start();
    await second.stop();
  }
});
