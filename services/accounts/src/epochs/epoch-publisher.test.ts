import { openRedis } from "@brand-records/redis";
import { Registry } from "@brand-records/telemetry";
import { sendRedisCommand, startRedisServer, type RedisServer } from "@brand-records/testkit";
import { redisEpochPublisher } from "./epoch-publisher.ts";

/** One promise: an epoch that Redis does not take is counted, as nothing else of accounts fails with it. */

let server: RedisServer;
beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server.stop());

it.each([
  ["takes", "+@all", [true, true, true], 0],
  ["refuses", "-@all +info +ping", [false, false, false], 3],
])("a Redis that %s its commands (%s)", async (_, rights, done, failures) => {
  await sendRedisCommand(server.url, `ACL SETUSER accounts on >secret ~* &* ${rights}`);
  const url = new URL(server.url);
  url.username = "accounts";
  url.password = "secret";
  const lines: string[] = [];
  const log = { info: () => {}, warn: (_fields: object, message: string) => void lines.push(message) };
  const redis = openRedis(url.href, { log, commandTimeoutMs: 20_000 });
  await redis.firstContact;
  const metrics = new Registry();
  const publisher = redisEpochPublisher(redis, log, metrics);
  expect([await publisher.publish("brd_1", 2), await publisher.remember(new Map([["brd_1", 2]])), await publisher.forget("brd_1")]).toEqual(
    done,
  );
  const failed = await metrics.getSingleMetric("epoch_publications_failed_total")?.get();
  expect([failed?.values[0]?.value, lines.length > 0]).toEqual([failures, failures > 0]);
  await redis.stop();
});
