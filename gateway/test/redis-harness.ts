import { luaScript, openRedis, windowKey } from "@brand-records/redis";
import { eventually } from "@brand-records/testkit";
import { spendInRedis } from "../src/limits/redis-limiter.ts";
import type { Harness } from "./describe-rate-limiter.ts";

/**
 * Ages a window: to Redis, older entries and an earlier expiry look like time that has passed. PTTL is rounded down to
 * milliseconds: without the added one, the key would expire before its newest entry leaves.
 */
const ageWindow = luaScript(
  "ageWindow",
  1,
  `
local ttl, entries = redis.call('PTTL', KEYS[1]), redis.call('LRANGE', KEYS[1], 0, -1)
if #entries == 0 then return 0 end
if ttl < 0 then return redis.error_reply('this window never expires') end
redis.call('DEL', KEYS[1])
for _, micros in ipairs(entries) do redis.call('RPUSH', KEYS[1], string.format('%.0f', micros - ARGV[1] * 1000)) end
redis.call('PEXPIRE', KEYS[1], ttl - ARGV[1] + 1)
return #entries
`,
);

/** Opens a limiter on a Redis that other tests may share. */
export async function openRedisHarness(url: string): Promise<Harness> {
  const redis = openRedis(url, { commandTimeoutMs: 20_000 });
  try {
    await eventually(() => expect(redis.isUp).toBe(true));
  } catch (error) {
    await redis.stop();
    throw error;
  }
  const brandIds = new Set<string>();
  let advancedMs = 0;

  return {
    limiter: {
      spend: (spend) => {
        brandIds.add(spend.brandId);
        return spendInRedis(redis, spend);
      },
      stop: () => redis.stop(),
    },
    now: () => performance.now() + advancedMs,
    advance: async (ms) => {
      advancedMs += ms;
      for (const brandId of brandIds) {
        const entries = await redis.run(windowKey(brandId), (commands) => ageWindow(commands, windowKey(brandId), ms));
        if (entries === 0) brandIds.delete(brandId);
      }
    },
    holdsStateOf: async (brandId) => (await redis.run(windowKey(brandId), (commands) => commands.exists(windowKey(brandId)))) === 1,
    stop: () => redis.stop(),
  };
}
