import { keySlot, SLOTS, windowKey } from "@brand-records/redis";
import { eventually, startRedisCluster, type RedisClusterServers } from "@brand-records/testkit";
import { metricsOf } from "../admin-port.ts";
import { startClients } from "../clients-in-turn.ts";
import { callContext, startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: a failed master of a Redis Cluster makes no request fail, and revoked keys stay revoked. */

let cluster: RedisClusterServers;
let stack: Stack;
/** One brand per shard. */
let brands: TestBrand[];
beforeAll(async () => {
  cluster = await startRedisCluster({ replicas: true });
  stack = await startStack({ gateways: 2, redisUrl: cluster.url, env: { RATE_LIMIT_PLUS: "100000" } });
  brands = await Promise.all([0, 1, 2].map(createBrandOnShard));
});
afterAll(async () => {
  await stack.stop();
  await cluster.stop();
});

async function createBrandOnShard(shard: number): Promise<TestBrand> {
  for (;;) {
    const brand = await stack.createBrand();
    if (Math.floor((keySlot(windowKey(brand.id)) * 3) / SLOTS) === shard) return brand;
  }
}

const onBoth = (key: string): Promise<number[]> =>
  Promise.all(stack.gateways.map(async (_, gateway) => (await stack.get("/api/v1/links", key, gateway)).status));

const sumOfMetric = async (name: string): Promise<number> => {
  const texts = await Promise.all(stack.gateways.map((gateway) => metricsOf(gateway.process)));
  const lines = texts.flatMap((text) => text.split("\n")).filter((line) => line.startsWith(name) && !line.startsWith("#"));
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
};

it("serves every request while a master is killed, and refuses a key of its shard that is revoked meanwhile", async () => {
  await eventually(async () => expect(await sumOfMetric("rate_limiter_redis_up")).toBe(2));
  const revoked = await createBrandOnShard(0);
  expect(await onBoth(revoked.key)).toEqual([200, 200]);
  // One for each brand at each gateway.
  const clients = startClients(2 * brands.length, async (n) => (await stack.get("/api/v1/links", brands[n >> 1]?.key ?? "", n % 2)).status);
  const requests = (): number => clients.results.length;
  await eventually(() => expect(requests()).toBeGreaterThan(200), { timeoutMs: 30_000 });

  await cluster.masters[0]!.kill();
  await stack.accounts.revokeKey({ key_id: revoked.keyId, revoked_by: revoked.owner }, callContext(10_000));
  // At once where the gateways cannot reach the master either; the promoted replica may have the old epoch until accounts repeats the new one.
  await eventually(async () => expect(await onBoth(revoked.key)).toEqual([401, 401]), { timeoutMs: 30_000 });
  // The gateways find the promoted replica automatically.
  await eventually(async () => expect(await sumOfMetric("rate_limiter_redis_up")).toBe(2), { timeoutMs: 30_000 });
  const fallbacks = await sumOfMetric("rate_limiter_fallback_decisions_total");
  expect(fallbacks).toBeGreaterThan(0);
  const before = requests();
  await eventually(() => expect(requests()).toBeGreaterThan(before + 200), { timeoutMs: 30_000 });
  const statuses = await clients.stop();
  expect(await onBoth(revoked.key)).toEqual([401, 401]);
  expect([...new Set(statuses)]).toEqual([200]);
  process.stdout.write(`A master of the cluster killed: ${requests()} requests, all 200, ${fallbacks} decided in process\n`);
});
