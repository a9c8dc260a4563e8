import { openPool, type Database } from "@brand-records/postgres";
import { eventually, startRedisServer, startTcpProxy, type RedisServer, type TcpProxy } from "@brand-records/testkit";
import { Redis } from "ioredis";
import { readinessOf } from "../admin-port.ts";
import { callContext, startStack, type Stack } from "../stack.ts";

/** One promise: a revoked permission is refused from the next request on, by every gateway, even with a warm cache. */

let redisServer: RedisServer;
let redis: Redis;
/** Proxy between accounts and Redis; the gateways reach Redis directly. */
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
    env: { RATE_LIMIT_PLUS: "100000", RATE_LIMIT_PRO: "10000" },
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

/** Makes both gateways cache the key's principal, so that they no longer call accounts. */
async function warmUp(key: string): Promise<void> {
  for (let round = 0; round < 3; round += 1) expect(await onBoth(key)).toEqual([200, 200]);
}

function onBoth(key: string): Promise<number[]> {
  return Promise.all(stack.gateways.map(async (_, gateway) => (await stack.get("/api/v1/links", key, gateway)).status));
}

/** Changes by an owner or operator, the status after each, and how to undo it. */
const changes = [
  {
    name: "the key is revoked",
    status: 401,
    make: (brand: { keyId: string; owner: string }, timeoutMs?: number) =>
      stack.accounts.revokeKey({ key_id: brand.keyId, revoked_by: brand.owner }, callContext(timeoutMs)),
  },
  {
    name: "the tier falls below Plus",
    status: 403,
    make: (brand: { id: string }, timeoutMs?: number) =>
      stack.accounts.setBrandTier({ brand_id: brand.id, tier: "starter" }, callContext(timeoutMs)),
    undo: (brand: { id: string }) => stack.accounts.setBrandTier({ brand_id: brand.id, tier: "plus" }, callContext()),
  },
  {
    name: "the verification is lost",
    status: 403,
    make: (brand: { id: string }, timeoutMs?: number) =>
      stack.accounts.setBrandVerified({ brand_id: brand.id, verified: false }, callContext(timeoutMs)),
    undo: (brand: { id: string }) => stack.accounts.setBrandVerified({ brand_id: brand.id, verified: true }, callContext()),
  },
] as const;

/** What happens around a change: Redis may lose all its data at any time. */
const MOMENTS = [
  { moment: "with nothing else", before: async () => {}, after: async () => {} },
  { moment: "right after Redis lost all its data", before: () => redis.flushall(), after: async () => {} },
  { moment: "right before Redis loses all its data", before: async () => {}, after: () => redis.flushall() },
];

describe.each(changes)("after $name", ({ status, make, ...change }) => {
  it.each(MOMENTS)("both warm gateways refuse the next request, $moment, and serve again once it is undone", async ({ before, after }) => {
    const brand = await stack.createBrand();
    await warmUp(brand.key);
    await before();
    await make(brand);
    await after();
    expect(await onBoth(brand.key)).toEqual([status, status]);
    if ("undo" in change) {
      await change.undo(brand);
      expect(await onBoth(brand.key)).toEqual([200, 200]);
    }
  });
});

it("both gateways refuse, under traffic, every request that begins after the change is confirmed", async () => {
  const brand = await stack.createBrand();
  await warmUp(brand.key);
  const traffic = sendUntil(brand.key, 8);
  await stack.accounts.revokeKey({ key_id: brand.keyId, revoked_by: brand.owner }, callContext());
  expect(await traffic.after(Date.now())).toEqual(Array.from({ length: 160 }, () => 401));
});

it("no gateway serves a request after the time that a revocation names while accounts cannot reach Redis", async () => {
  const brand = await stack.createBrand();
  await accountsToRedis.cut();
  const traffic = sendUntil(brand.key, 2);
  const revoked = await stack.accounts.revokeKey({ key_id: brand.keyId, revoked_by: brand.owner }, callContext(10_000));
  const endsAt = Date.parse(revoked.may_be_accepted_until ?? "");
  expect(endsAt).toBeGreaterThan(Date.now());
  // Takes the 30 seconds for which gateways cache.
  expect(await traffic.after(endsAt)).toEqual(Array.from({ length: 40 }, () => 401));
  await accountsToRedis.heal();
});

/** Sends requests in turn from each of some senders. `after` returns the statuses of the next 20 of each that begin after a time. */
function sendUntil(key: string, senders: number): { after(time: number): Promise<number[]> } {
  let from = Number.POSITIVE_INFINITY;
  const statuses: number[] = [];
  const send = async (gateway: number): Promise<void> => {
    for (let counted = 0; counted < 20;) {
      const began = Date.now();
      const { status } = await stack.get("/api/v1/links", key, gateway);
      if (began <= from) continue;
      counted += 1;
      statuses.push(status);
    }
  };
  const sending = Promise.all(Array.from({ length: senders }, (_, index) => send(index % 2)));
  return {
    async after(time) {
      from = time;
      await sending;
      return statuses;
    },
  };
}

describe.each([
  ["refuses connections", () => accountsToRedis.cut()],
  ["loses every packet", () => accountsToRedis.blackhole()],
])("while the connection from accounts to Redis %s", (_how, breakConnection) => {
  afterEach(() => accountsToRedis.heal());

  it.each(changes)("$name: at once, with the time by which warm gateways refuse; they do when it is back", async ({ status, make }) => {
    const brand = await stack.createBrand();
    await warmUp(brand.key);
    await breakConnection();
    // The console's deadline.
    const { may_be_accepted_until: until } = await make(brand, 10_000);
    // The gateways do not know yet.
    expect(await onBoth(brand.key)).toEqual([200, 200]);
    expect(Date.parse(until ?? "")).toBeGreaterThan(Date.now());
    await accountsToRedis.heal();
    await eventually(async () => expect(await onBoth(brand.key)).toEqual([status, status]), { timeoutMs: 20_000 });
  });
});

it("makes a key without waiting while accounts cannot reach Redis, and reports accounts as degraded", async () => {
  await accountsToRedis.cut();
  const readiness = () => readinessOf(stack.processes.accounts);
  await eventually(async () => expect(await readiness()).toEqual({ status: "ready", degraded: ["redis"] }));
  const brand = await stack.createBrand();
  expect(await onBoth(brand.key)).toEqual([200, 200]);
  await accountsToRedis.heal();
  await eventually(async () => expect(await readiness()).toEqual({ status: "ready" }));
});

it("enforces a revocation on both warm gateways when accounts is killed right after its commit", async () => {
  const brand = await stack.createBrand();
  await warmUp(brand.key);
  // The key is revoked from the commit on.
  const revoking = stack.accounts.revokeKey({ key_id: brand.keyId, revoked_by: brand.owner }, callContext()).catch(() => {});
  const revoked = async () =>
    (await db.query("select 1 from accounts.keys where id = $1 and revoked_at is not null", [brand.keyId])).length > 0;
  while (!(await revoked()));
  await stack.processes.accounts.kill("SIGKILL");
  await revoking;
  // The gateways cannot verify the key, so they do not serve it.
  expect(await onBoth(brand.key)).toEqual([503, 503]);
  await stack.restart("accounts");
  // The same holds until the gateways reconnect to accounts.
  const seen: number[] = [];
  await eventually(async () => {
    const statuses = await onBoth(brand.key);
    seen.push(...statuses);
    expect(statuses).toEqual([401, 401]);
  });
  expect(seen).not.toContain(200);
});
