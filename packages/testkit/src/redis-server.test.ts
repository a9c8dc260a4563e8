import { connect } from "node:net";
import { TIMED_OUT, withTimeout } from "@brand-records/lifecycle";
import { eventually } from "./eventually.ts";
import { startRedisServer, type RedisServer } from "./redis-server.ts";

describe("startRedisServer", () => {
  let redis: RedisServer;
  beforeEach(async () => {
    redis = await startRedisServer();
  });
  afterEach(() => redis.stop());

  it("comes back on the same port and empty after it was killed", async () => {
    const { url } = redis;
    expect(await ask(url, "SET color violet")).toBe("+OK");
    await redis.kill();
    await expect(ask(url, "PING")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    await redis.start();
    expect(redis.url).toBe(url);
    expect(await ask(url, "GET color")).toBe("$-1");
  });

  it("answers after a thaw what was asked while it was frozen", async () => {
    await redis.freeze();
    let answered = false;
    const answer = ask(redis.url, "PING").finally(() => (answered = true));
    expect(await withTimeout(ask(redis.url, "PING"), 100)).toBe(TIMED_OUT);
    expect(answered).toBe(false);
    await redis.thaw();
    expect(await answer).toBe("+PONG");
  });

  it("stops a frozen one, and one that is gone", async () => {
    await redis.freeze();
    await redis.stop();
    await redis.stop();
    await eventually(() => expect(ask(redis.url, "PING")).rejects.toMatchObject({ code: "ECONNREFUSED" }));
  });

  it("gives each its own port", async () => {
    const other = await startRedisServer();
    expect(other.url).not.toBe(redis.url);
    await other.stop();
  });
});

/** The first line Redis answers to a command. */
function ask(url: string, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port) });
    socket.once("error", reject);
    socket.once("data", (data) => {
      resolve(data.toString().split("\r\n")[0] ?? "");
      socket.destroy();
    });
    socket.write(`${command}\r\n`);
  });
}
