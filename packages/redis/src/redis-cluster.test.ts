import { randomUUID } from "node:crypto";
import { inspect } from "node:util";
import { sendRedisCommand, eventually, startRedisCluster, type RedisClusterServers } from "@brand-records/testkit";
import { epochKey, publishEpoch } from "./brand-epoch.ts";
import { keySlot } from "./cluster-slots.ts";
import { openRedis } from "./open-redis.ts";
import type { RedisClient, RedisClientOptions } from "./redis-client.ts";

/** Most tests use a long timeout: a busy machine must not fail them. */
const LONG_MS = 20_000;

let cluster: RedisClusterServers;
const opened: RedisClient[] = [];
beforeAll(async () => {
  cluster = await startRedisCluster({ masters: 2 });
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((redis) => redis.stop()));
});
afterAll(() => cluster.stop());

function open(url = cluster.url, options: RedisClientOptions = {}): RedisClient {
  const redis = openRedis(url, { commandTimeoutMs: LONG_MS, ...options });
  opened.push(redis);
  return redis;
}

/** A key that the given master serves. */
function keyOf(master: number): string {
  for (;;) {
    const key = `key:{${randomUUID()}}`;
    if (Math.floor(keySlot(key) / 8_192) === master) return key;
  }
}

const addressOf = (master: number): string => new URL(cluster.masters[master]!.url).host;

it("computes slots as Redis does", async () => {
  for (const key of ["", "a", "123456789", "{brd_1}", "rate:{brd_1}", "epoch:{brd_1}", "{}x", "x{", "{a}{b}", "kamusta"]) {
    const slot = await sendRedisCommand(cluster.masters[0]!.url, `CLUSTER KEYSLOT "${key}"`);
    expect({ key, slot: keySlot(key) }).toEqual({ key, slot: Number(slot) });
  }
});

it("finds every node through one node, and the node of every key", async () => {
  const redis = open(`redis+cluster://${addressOf(1)}`);
  await redis.firstContact;
  expect(redis.isUp).toBe(true);
  for (const key of [keyOf(0), keyOf(1)]) {
    await redis.run(key, (commands) => commands.set(key, "here"));
    await expect(redis.run(key, (commands) => commands.get(key))).resolves.toBe("here");
  }
});

it("treats several hosts in a redis:// URL as a cluster", async () => {
  const redis = open(`redis://${addressOf(0)},${addressOf(1)}`);
  await redis.firstContact;
  await Promise.all([keyOf(0), keyOf(1)].map((key) => redis.run(key, (commands) => commands.set(key, "x"))));
});

it("runs a script about a brand on the brand's node, even if the node has lost the script", async () => {
  const redis = open();
  await redis.firstContact;
  const brandId = `brd_${randomUUID()}`;
  await publishEpoch(redis, brandId, 1);
  for (const { url } of cluster.masters) await sendRedisCommand(url, "SCRIPT FLUSH");
  await publishEpoch(redis, brandId, 2);
  await publishEpoch(redis, brandId, 3);
  await expect(redis.run(epochKey(brandId), (commands) => commands.get(epochKey(brandId)))).resolves.toBe("3");
});

it("follows a slot to another node, during the move and after it, and executes every command once", async () => {
  const losses: string[] = [];
  const redis = open(cluster.url, { onPossibleLoss: () => losses.push("loss") });
  await redis.firstContact;
  const [from, to] = [cluster.masters[0]!.url, cluster.masters[1]!.url];
  const [fromId, toId] = [await sendRedisCommand(from, "CLUSTER MYID"), await sendRedisCommand(to, "CLUSTER MYID")];
  const key = keyOf(0);
  const slot = keySlot(key);
  const increase = () => redis.run(key, (commands) => commands.incr(key));

  // The slot is still empty: the old node redirects to the new one with ASK.
  await sendRedisCommand(to, `CLUSTER SETSLOT ${slot} IMPORTING ${fromId}`);
  await sendRedisCommand(from, `CLUSTER SETSLOT ${slot} MIGRATING ${toId}`);
  expect([await increase(), await increase()]).toEqual([1, 2]);
  expect(losses).toEqual([]);
  await sendRedisCommand(to, `CLUSTER SETSLOT ${slot} NODE ${toId}`);
  await sendRedisCommand(from, `CLUSTER SETSLOT ${slot} NODE ${toId}`);
  expect(await increase()).toBe(3);
  // The new node may lack writes that the old one accepted.
  expect(losses).not.toEqual([]);
  expect(await sendRedisCommand(to, `GET ${key}`)).toBe("3");
});

it("sends the user and password of the URL to every node, and keeps them out of every error", async () => {
  for (const { url } of cluster.masters) await sendRedisCommand(url, "CONFIG SET requirepass hunter2");
  const redis = open(cluster.url.replace("//", "//default:hunter2@"));
  await redis.firstContact;
  const keys = [keyOf(0), keyOf(1)];
  for (const key of keys) await redis.run(key, (commands) => commands.set(key, "x"));

  const causes: unknown[] = [];
  const refused = open(cluster.url.replace("//", "//:hunter3@"), { onStateChange: (_up, cause) => causes.push(cause) });
  await refused.firstContact;
  causes.push(await refused.run("key", (commands) => commands.get("key")).catch((error: unknown) => error));
  expect(causes).toHaveLength(2);
  expect(inspect(causes, { depth: null, showHidden: true })).not.toContain("hunter3");

  for (const key of keys) await redis.run(key, (commands) => commands.config("SET", "requirepass", ""));
});

it("fails only the keys of a node that is down, and logs which node it is", async () => {
  const states: boolean[] = [];
  const lines: object[] = [];
  const log = { info: () => {}, warn: (fields: object) => void lines.push(fields) };
  const redis = open(cluster.url, { log, onStateChange: (isUp) => states.push(isUp) });
  await redis.firstContact;
  const [keyOfDown, keyOfOther] = [keyOf(0), keyOf(1)];
  await cluster.masters[0]!.kill();
  await eventually(() => expect(redis.isUp).toBe(false));
  await expect(redis.run(keyOfDown, (commands) => commands.get(keyOfDown))).rejects.toMatchObject({ name: "RedisUnavailable" });
  await expect(redis.run(keyOfOther, (commands) => commands.incr(keyOfOther))).resolves.toBe(1);
  expect(lines).toMatchObject([{ redis_node: addressOf(0), err: expect.any(Error) }]);
  expect(states).toEqual([true, false]);
});

it("is down, with the reason, if the server has no cluster support", async () => {
  const causes: unknown[] = [];
  const redis = open(process.env["TEST_REDIS_URL"]!.replace("redis://", "redis+cluster://"), {
    onStateChange: (_up, cause) => causes.push(cause),
  });
  await redis.firstContact;
  expect(redis.isUp).toBe(false);
  expect(String(causes[0])).toContain("cluster support disabled");
});

it("stops while no node is reachable, leaving no timer and no connection", async () => {
  const before = process.getActiveResourcesInfo().toSorted();
  const redis = open("redis+cluster://127.0.0.1:1");
  expect(process.getActiveResourcesInfo().toSorted()).not.toEqual(before);
  await redis.stop();
  await eventually(() => expect(process.getActiveResourcesInfo().toSorted()).toEqual(before));
  await redis.firstContact;
  await expect(redis.run("key", (commands) => commands.get("key"))).rejects.toMatchObject({ name: "RedisUnavailable" });
});
