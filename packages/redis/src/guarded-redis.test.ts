import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { inspect } from "node:util";
import { eventually, startRedisServer, type RedisServer } from "@brand-records/testkit";
import { GuardedRedis } from "./guarded-redis.ts";
import type { RedisClientOptions } from "./redis-client.ts";
import { RedisUnavailable } from "./redis-errors.ts";

/** A proxy before Redis that records the commands and can hold the replies. */
class HoldingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #held: (() => void)[] = [];
  #isHolding = false;
  sent = "";

  constructor(redisUrl: string) {
    const { hostname, port } = new URL(redisUrl);
    this.#server = createServer((client) => {
      const redis = connect(Number(port), hostname);
      for (const [socket, other] of [[client, redis] as const, [redis, client] as const]) {
        this.#sockets.add(socket);
        socket.on("error", () => other.destroy());
        socket.on("close", () => other.destroy());
      }
      client.on("data", (bytes) => {
        this.sent += bytes.toString();
        redis.write(bytes);
      });
      redis.on("data", (bytes) => {
        if (this.#isHolding) this.#held.push(() => client.write(bytes));
        else client.write(bytes);
      });
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  hold(): void {
    this.#isHolding = true;
    this.sent = "";
  }

  release(): void {
    this.#isHolding = false;
    for (const write of this.#held.splice(0)) write();
  }

  cut(): void {
    this.#isHolding = false;
    this.#held.length = 0;
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  stop(): void {
    this.cut();
    this.#server.close();
  }
}

let server: RedisServer;
let witness: GuardedRedis;
const opened: GuardedRedis[] = [];
const proxies: HoldingProxy[] = [];

/** Most tests use a long timeout: a busy machine must not fail them. */
const LONG_MS = 20_000;

function open(url: string, options: RedisClientOptions = { commandTimeoutMs: LONG_MS }): GuardedRedis {
  const redis = new GuardedRedis(url, options);
  opened.push(redis);
  return redis;
}

const isUp = (redis: GuardedRedis) => eventually(() => expect(redis.isUp).toBe(true));

async function startProxy(): Promise<{ proxy: HoldingProxy; url: string }> {
  const proxy = new HoldingProxy(server.url);
  proxies.push(proxy);
  return { proxy, url: await proxy.listen() };
}

beforeAll(async () => {
  server = await startRedisServer();
});

beforeEach(async () => {
  witness = open(server.url);
  await isUp(witness);
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((redis) => redis.stop()));
  for (const proxy of proxies.splice(0)) proxy.stop();
});

afterAll(() => server.stop());

it("starts without Redis, fails immediately until Redis starts, then is up automatically", async () => {
  await server.kill();
  const states: boolean[] = [];
  const redis = open(server.url, { commandTimeoutMs: LONG_MS, onStateChange: (up) => states.push(up) });
  await expect(redis.run((commands) => commands.ping())).rejects.toThrow(RedisUnavailable);
  await eventually(() => expect(states).toEqual([false]));
  await server.start();
  await isUp(redis);
  await expect(redis.run((commands) => commands.ping())).resolves.toBe("PONG");
  expect(states).toEqual([false, true]);
});

it("sends only a single PING after a timeout, until its reply arrives", async () => {
  const { proxy, url } = await startProxy();
  const redis = open(url, { commandTimeoutMs: 200 });
  await isUp(redis);

  proxy.hold();
  await expect(redis.run((commands) => commands.incr("queued"))).rejects.toThrow("no reply within 200 ms");
  for (let i = 0; i < 1_000; i += 1) {
    await expect(redis.run((commands) => commands.incr("queued"))).rejects.toThrow(RedisUnavailable);
    await witness.run((commands) => commands.echo("time passes"));
  }
  expect(proxy.sent.match(/\b(incr|ping)\b/g)).toEqual(["incr", "ping"]);

  proxy.release();
  await isUp(redis);
  await expect(redis.run((commands) => commands.incr("queued"))).resolves.toBe(2);
});

it("fails commands in flight when the connection is lost, and never sends them again", async () => {
  const { proxy, url } = await startProxy();
  const redis = open(url);
  await isUp(redis);

  proxy.hold();
  const lost = redis.run((commands) => commands.incr("in flight")).catch((error: unknown) => error);
  await eventually(async () => expect(await witness.run((commands) => commands.get("in flight"))).toBe("1"));
  proxy.cut();
  expect(await lost).toBeInstanceOf(RedisUnavailable);

  await isUp(redis);
  // Commands of one connection are executed in order: a repetition would come before this.
  await expect(redis.run((commands) => commands.get("in flight"))).resolves.toBe("1");
});

it("accepts a reply that has arrived, however late our own event loop is", async () => {
  const redis = open(server.url, { commandTimeoutMs: 20 });
  await isUp(redis);
  // From here the loop runs its timers first, then reads its sockets.
  await new Promise(setImmediate);
  const reply = redis.run((commands) => commands.echo("in time"));
  for (const until = performance.now() + 1_000; performance.now() < until;);
  await expect(reply).resolves.toBe("in time");
});

it("recovers from a freeze, in which Redis executes only the commands that were in flight", async () => {
  const states: boolean[] = [];
  const redis = open(server.url, { commandTimeoutMs: 1_000, onStateChange: (up) => states.push(up) });
  await isUp(redis);
  await server.freeze();
  const inFlight = Array.from({ length: 10 }, () => redis.run((commands) => commands.incr("frozen")));
  expect((await Promise.allSettled(inFlight)).map(({ status }) => status)).toEqual(Array(10).fill("rejected"));
  for (let i = 0; i < 100; i += 1) await expect(redis.run((commands) => commands.incr("frozen"))).rejects.toThrow(RedisUnavailable);
  await server.thaw();
  await isUp(redis);
  await expect(redis.run((commands) => commands.get("frozen"))).resolves.toBe("10");
  expect(states).toEqual([true, false, true]);
});

it("gives up a silent connection and dials again", async () => {
  const { proxy, url } = await startProxy();
  const redis = open(url, { commandTimeoutMs: 200 });
  await isUp(redis);
  proxy.hold();
  await expect(redis.run((commands) => commands.ping())).rejects.toThrow(RedisUnavailable);
  // The handshake of a new connection.
  await eventually(() => expect(proxy.sent.toLowerCase()).toContain("hello"));
  proxy.release();
  await isUp(redis);
});

it("stays up after an error reply about a command, which only that command receives", async () => {
  const states: boolean[] = [];
  const redis = open(server.url, { commandTimeoutMs: LONG_MS, onStateChange: (up) => states.push(up) });
  await isUp(redis);
  await redis.run((commands) => commands.set("text", "abc"));
  const [wrong, right] = await Promise.allSettled([
    redis.run((commands) => commands.lpush("text", "x")),
    redis.run((commands) => commands.get("text")),
  ]);
  expect(wrong).toMatchObject({ reason: { name: "RedisReplyError", code: "WRONGTYPE", cause: { message: expect.any(String) } } });
  expect(right).toMatchObject({ value: "abc" });
  expect(states).toEqual([true]);
});

it("counts a server that refuses every write as down, reports the cause, and recovers", async () => {
  const lines: unknown[] = [];
  const log = {
    info: (_fields: object, message: string) => lines.push(message),
    warn: (_fields: object, message: string) => lines.push(message),
  };
  const redis = open(server.url, { commandTimeoutMs: LONG_MS, log });
  await isUp(redis);
  // A replica refuses to write.
  await witness.run((commands) => commands.replicaof("127.0.0.1", 1));
  await expect(redis.run((commands) => commands.set("a", "b"))).rejects.toMatchObject({
    name: "RedisUnavailable",
    cause: { message: expect.stringContaining("READONLY") },
  });
  await witness.run((commands) => commands.replicaof("NO", "ONE"));
  await isUp(redis);
  expect(lines.slice(0, 3)).toEqual(["redis is available", "redis is unavailable", "redis is available"]);
});

it("keeps the password out of every error when Redis refuses it", async () => {
  const guarded = await startRedisServer({ requirepass: "another" });
  const causes: unknown[] = [];
  try {
    const redis = open(guarded.url.replace("//", "//:hunter2@"), { onStateChange: (_isUp, cause) => causes.push(cause) });
    await eventually(() => expect(String(causes[0])).toMatch(/WRONGPASS/));
    causes.push(await redis.run((commands) => commands.ping()).catch((error: unknown) => error));
    expect(causes).toHaveLength(2);
    expect(inspect(causes, { depth: null, showHidden: true })).not.toContain("hunter2");
  } finally {
    await guarded.stop();
  }
});

describe("stop", () => {
  const active = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout" || kind === "TCPSocketWrap").length;

  it.each([
    ["while it is up", async () => {}],
    ["while Redis is frozen", () => server.freeze()],
    ["while Redis is killed", () => server.kill()],
  ])("leaves no timer and no socket %s, and fails later commands", async (_when, disturb) => {
    await witness.stop();
    const before = active();
    const redis = open(server.url, { commandTimeoutMs: 200 });
    await isUp(redis);
    await disturb();
    const command = redis.run((commands) => commands.blpop("nothing ever", 0));
    await Promise.allSettled([command, redis.stop(), redis.stop()]);
    await expect(command).rejects.toThrow(RedisUnavailable);
    await expect(redis.run((commands) => commands.ping())).rejects.toThrow("stopped");
    await eventually(() => expect(active()).toBeLessThanOrEqual(before));
  });

  afterEach(async () => {
    await server.kill();
    await server.start();
  });
});
