import { luaScript } from "./lua-script.ts";
import type { RedisClient } from "./redis-client.ts";

/**
 * The keys through which accounts and gateways communicate. The braces are a hash tag: in a cluster all keys of a brand are on one
 * node, so one script may use them all.
 */
export const epochKey = (brandId: string): string => `epoch:{${brandId}}`;
export const windowKey = (brandId: string): string => `rate:{${brandId}}`;

/** An expired epoch costs one verification by accounts. */
export const EPOCH_TTL_SECONDS = 3_600;

/**
 * How long a gateway trusts a cached principal, counted from the start of its verification. accounts says so of a change that it could not
 * publish.
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
 * Invalidates, in every gateway, this brand's principals of older epochs. Never lowers an epoch, so any number of processes may publish
 * in any order.
 *
 * @param epoch a whole number below 2^53
 * @throws RedisUnavailable, RedisReplyError
 */
export async function publishEpoch(redis: RedisClient, brandId: string, epoch: number): Promise<void> {
  const key = epochKey(brandId);
  await redis.run(key, (commands) => publish(commands, key, epoch, EPOCH_TTL_SECONDS));
}

/**
 * Returns the epoch that gateways compare with; undefined if Redis has none.
 *
 * @throws RedisUnavailable, RedisReplyError
 */
export async function readEpoch(redis: RedisClient, brandId: string): Promise<number | undefined> {
  const key = epochKey(brandId);
  const epoch = await redis.run(key, (commands) => commands.get(key));
  return epoch === null ? undefined : Number(epoch);
}

/**
 * Removes a deleted brand's keys. The epoch may go only once no gateway can hold a principal from before the deletion: such a gateway
 * would write the old epoch again, and trust it.
 *
 * @throws RedisUnavailable, RedisReplyError
 */
export async function forgetBrand(redis: RedisClient, brandId: string): Promise<void> {
  const key = epochKey(brandId);
  await redis.run(key, (commands) => commands.del(key, windowKey(brandId)));
}
