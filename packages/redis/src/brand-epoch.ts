import { luaScript } from "./lua-script.ts";
import type { RedisClient } from "./redis-client.ts";

/**
 * What accounts and gateways say to each other through Redis. The braces are a hash tag: in a cluster everything of one
 * brand lies on one node, so one script may touch it all.
 */
export const epochKey = (brandId: string): string => `epoch:{${brandId}}`;
export const windowKey = (brandId: string): string => `rate:{${brandId}}`;

/** An hour: an epoch that is gone costs one verification at accounts. */
export const EPOCH_TTL_SECONDS = 3_600;

/**
 * How long a gateway believes a principal it has cached, from when it began to verify it. accounts waits this long before it confirms a
 * change that it could not publish.
 */
export const PRINCIPAL_TTL_MS = 30_000;

const publish = luaScript(
  "publishBrandEpoch",
  1,
  `
local known = tonumber(redis.call('GET', KEYS[1]) or '')
if known and known >= tonumber(ARGV[1]) then
  redis.call('EXPIRE', KEYS[1], ARGV[2])
else
  redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
end
`,
);

/**
 * Tells every gateway that principals of this brand read at an older epoch are out of date. Never lowers an epoch, so
 * any number of processes may publish in any order. `epoch` is a whole number below 2^53.
 *
 * @throws RedisUnavailable, RedisReplyError
 */
export async function publishEpoch(redis: RedisClient, brandId: string, epoch: number): Promise<void> {
  const key = epochKey(brandId);
  await redis.run(key, (commands) => publish(commands, key, epoch, EPOCH_TTL_SECONDS));
}
