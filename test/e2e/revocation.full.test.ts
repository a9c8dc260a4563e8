import { startRedisServer, startTcpProxy, type RedisServer, type TcpProxy } from "@brand-records/testkit";
import { callContext, startStack, type Stack } from "../stack.ts";

/** One promise: a revocation holds by the time that it names, even if it never reaches Redis. Takes the 30 seconds for which gateways cache. */

let redisServer: RedisServer;
let accountsToRedis: TcpProxy;
let stack: Stack;
beforeAll(async () => {
  redisServer = await startRedisServer();
  accountsToRedis = await startTcpProxy({ host: "127.0.0.1", port: Number(new URL(redisServer.url).port) });
  stack = await startStack({
    gateways: 2,
    redisUrl: redisServer.url,
    env: { RATE_LIMIT_PLUS: "100000" },
    envOf: { accounts: { REDIS_URL: `redis://127.0.0.1:${accountsToRedis.port}` } },
  });
});
afterAll(async () => {
  await stack.stop();
  await accountsToRedis.stop();
  await redisServer.stop();
});

it("revokes at once while accounts cannot reach Redis, and no gateway serves a request after the time that the answer names", async () => {
  const brand = await stack.createBrand();
  await accountsToRedis.cut();
  let endsAt = Number.POSITIVE_INFINITY;
  const statusesAfter: number[] = [];
  const sendRequests = async (gateway: number): Promise<void> => {
    for (let after = 0; after < 20;) {
      const began = Date.now();
      const { status } = await stack.get("/api/v1/links", brand.key, gateway);
      if (began <= endsAt) continue;
      after += 1;
      statusesAfter.push(status);
    }
  };
  const traffic = Promise.all([sendRequests(0), sendRequests(1)]);
  const revoked = await stack.accounts.revokeKey({ key_id: brand.keyId, revoked_by: brand.owner }, callContext(10_000));
  endsAt = Date.parse(revoked.may_be_accepted_until ?? "");
  expect(endsAt).toBeGreaterThan(Date.now());
  await traffic;
  expect(statusesAfter).toEqual(Array.from({ length: 40 }, () => 401));
}, 120_000);
