import { openPool, type Database } from "@brand-records/postgres";
import { eventually, startRedisServer, startTcpProxy, type RedisServer, type TcpProxy } from "@brand-records/testkit";
import { Redis } from "ioredis";
import { callContext, startStack, type Stack } from "../stack.ts";

/** One promise: what a key may no longer do is refused with the next request, on every gateway, however warm its caches. */

let redisServer: RedisServer;
let redis: Redis;
/** Between accounts and Redis; the gateways reach it directly. */
let accountsToRedis: TcpProxy;
let stack: Stack;
let db: Database;

beforeAll(async () => {
  redisServer = await startRedisServer();
  redis = new Redis(redisServer.url);
  accountsToRedis = await startTcpProxy({ host: "127.0.0.1", port: Number(new URL(redisServer.url).port) });
  stack = await startStack({
    gateways: 2,
    redisUrl: redisServer.url,
    env: { RATE_LIMIT_PLUS: "10000", RATE_LIMIT_PRO: "10000" },
    envOf: { accounts: { REDIS_URL: `redis://127.0.0.1:${accountsToRedis.port}` } },
  });
  db = openPool({ url: stack.databaseUrl, max: 2, applicationName: "test" });
});
afterAll(async () => {
  await db.stop();
  await stack.stop();
  await accountsToRedis.stop();
  redis.disconnect();
  await redisServer.stop();
});

/** Both gateways hold the key's principal: served without asking accounts. */
async function warmUp(key: string): Promise<void> {
  for (let round = 0; round < 3; round += 1) expect(await onBoth(key)).toEqual([200, 200]);
}

function onBoth(key: string): Promise<number[]> {
  return Promise.all(stack.gateways.map(async (_, gateway) => (await stack.get("/api/v1/links", key, gateway)).status));
}

/** What an owner or operator can do to a key's brand, the status from then on, and how it is undone if it can be. */
const changes = [
  {
    name: "the key is revoked",
    status: 401,
    make: (brand: { keyId: string; owner: string }, withinMs?: number) =>
      stack.accounts.revokeKey({ key_id: brand.keyId, revoked_by: brand.owner }, callContext(withinMs)),
  },
  {
    name: "the tier falls below Plus",
    status: 403,
    make: (brand: { id: string }, withinMs?: number) =>
      stack.accounts.setBrandTier({ brand_id: brand.id, tier: "starter" }, callContext(withinMs)),
    undo: (brand: { id: string }) => stack.accounts.setBrandTier({ brand_id: brand.id, tier: "plus" }, callContext()),
  },
  {
    name: "the verification is lost",
    status: 403,
    make: (brand: { id: string }, withinMs?: number) =>
      stack.accounts.setBrandVerified({ brand_id: brand.id, verified: false }, callContext(withinMs)),
    undo: (brand: { id: string }) => stack.accounts.setBrandVerified({ brand_id: brand.id, verified: true }, callContext()),
  },
] as const;

describe.each(changes)("after $name", ({ status, make, ...change }) => {
  it("both warm gateways refuse the next request, and serve again once it is undone", async () => {
    const brand = await stack.createBrand();
    await warmUp(brand.key);
    await make(brand);
    expect(await onBoth(brand.key)).toEqual([status, status]);
    if ("undo" in change) {
      await change.undo(brand);
      expect(await onBoth(brand.key)).toEqual([200, 200]);
    }
  });

  it("also when Redis loses everything right before", async () => {
    const brand = await stack.createBrand();
    await warmUp(brand.key);
    await redis.flushall();
    await make(brand);
    expect(await onBoth(brand.key)).toEqual([status, status]);
  });

  it("also when Redis loses everything right after", async () => {
    const brand = await stack.createBrand();
    await warmUp(brand.key);
    await make(brand);
    await redis.flushall();
    expect(await onBoth(brand.key)).toEqual([status, status]);
  });

  it("also under traffic: no request that begins after the change was answered is served", async () => {
    const brand = await stack.createBrand();
    await warmUp(brand.key);
    let changedAt = Number.POSITIVE_INFINITY;
    const late: number[] = [];
    const keepAsking = async (gateway: number): Promise<void> => {
      for (let after = 0; after < 20;) {
        const began = performance.now();
        const { status: answered } = await stack.get("/api/v1/links", brand.key, gateway);
        if (began < changedAt) continue;
        after += 1;
        late.push(answered);
      }
    };
    const traffic = Promise.all([0, 1, 0, 1, 0, 1, 0, 1].map(keepAsking));
    await make(brand);
    changedAt = performance.now();
    await traffic;
    expect(late).toHaveLength(160);
    expect(late.filter((answered) => answered !== status)).toEqual([]);
  });
});

describe.each([
  ["refuses connections", () => accountsToRedis.cut()],
  ["swallows every packet", () => accountsToRedis.blackhole()],
])("while the line from accounts to Redis %s", (_how, disturb) => {
  afterEach(() => accountsToRedis.heal());

  it.each(changes)("$name: confirmed only once the warm gateways have been told, and refused from then on", async ({ status, make }) => {
    const brand = await stack.createBrand();
    await warmUp(brand.key);
    const [{ epoch } = { epoch: 0 }] = await db.query<{ epoch: number }>("select epoch from accounts.brands where id = $1", [brand.id]);
    await disturb();
    let isConfirmed = false;
    const confirmed = make(brand, 40_000).then(() => void (isConfirmed = true));
    // From the commit on it is effective, and nobody knows.
    await eventually(async () =>
      expect(await db.query("select 1 from accounts.brands where id = $1 and epoch > $2", [brand.id, epoch])).toHaveLength(1),
    );
    for (let round = 0; round < 10; round += 1) expect(await onBoth(brand.key)).toEqual([200, 200]);
    expect(isConfirmed).toBe(false);
    await accountsToRedis.heal();
    await confirmed;
    expect(await onBoth(brand.key)).toEqual([status, status]);
  });
});

it("a key can be made while accounts cannot reach Redis, without waiting; accounts says that it is degraded", async () => {
  await accountsToRedis.cut();
  const { admin_port } = stack.processes.accounts.ready as { admin_port: number };
  const readiness = async () => (await fetch(`http://127.0.0.1:${admin_port}/readyz`)).json();
  await eventually(async () => expect(await readiness()).toEqual({ status: "ready", degraded: ["redis"] }));
  const brand = await stack.createBrand();
  expect(await onBoth(brand.key)).toEqual([200, 200]);
  await accountsToRedis.heal();
  await eventually(async () => expect(await readiness()).toEqual({ status: "ready" }));
});

it("a revocation whose accounts process is killed right after its commit is seen by both warm gateways", async () => {
  const brand = await stack.createBrand();
  await warmUp(brand.key);
  // The commit is what ends the row lock that this transaction waits for: from then on the key is revoked.
  const revoking = stack.accounts.revokeKey({ key_id: brand.keyId, revoked_by: brand.owner }, callContext()).catch(() => {});
  const revoked = async () =>
    (await db.query("select 1 from accounts.keys where id = $1 and revoked_at is not null", [brand.keyId])).length > 0;
  while (!(await revoked()));
  await stack.processes.accounts.kill("SIGKILL");
  await revoking;
  // Nobody can say whether the key is good: it is not served.
  expect(await onBoth(brand.key)).toEqual([503, 503]);
  await stack.restart("accounts");
  // Until the gateways have found accounts again, still nobody can say.
  const seen: number[] = [];
  await eventually(async () => {
    const statuses = await onBoth(brand.key);
    seen.push(...statuses);
    expect(statuses).toEqual([401, 401]);
  });
  expect(seen).not.toContain(200);
});

it("a tier raised or lowered changes the limit of the next request", async () => {
  const brand = await stack.createBrand();
  const policy = async () => (await stack.get("/api/v1/links", brand.key)).headers.get("ratelimit-policy");
  const before = await policy();
  await stack.accounts.setBrandTier({ brand_id: brand.id, tier: "enterprise" }, callContext());
  expect([before, await policy()]).toEqual(['"brand";q=10000;w=60', '"brand";q=240;w=60']);
});
