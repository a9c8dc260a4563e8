import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "./eventually.ts";
import { sendRedisCommand } from "./redis-command.ts";
import { type RedisServer, startRedisServer } from "./redis-server.ts";

describe("startRedisServer", () => {
  let redis: RedisServer;
  beforeEach(async () => {
    redis = await startRedisServer();
  });
  afterEach(() => redis.stop());

  it("comes back on the same port and empty after it was killed", async () => {
    const { url } = redis;
    expect(await sendRedisCommand(url, "SET color violet")).toBe("OK");
    await redis.kill();
    await expect(sendRedisCommand(url, "PING")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    await redis.start();
    expect(redis.url).toBe(url);
    expect(await sendRedisCommand(url, "EXISTS color")).toBe("0");
  });

  it("replies after a thaw to a command sent while it was frozen", async () => {
    await redis.freeze();
    const reply = sendRedisCommand(redis.url, "PING");
    expect(await Promise.race([reply, pause(100, "no reply")])).toBe("no reply");
    await redis.thaw();
    expect(await reply).toBe("PONG");
  });

  it("stops a frozen server, and one that has already stopped", async () => {
    await redis.freeze();
    await redis.stop();
    await redis.stop();
    await eventually(() => expect(sendRedisCommand(redis.url, "PING")).rejects.toMatchObject({ code: "ECONNREFUSED" }));
  });

  it("gives each server its own port", async () => {
    const other = await startRedisServer();
    expect(other.url).not.toBe(redis.url);
    await other.stop();
  });
});
