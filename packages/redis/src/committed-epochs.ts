import { luaScript } from "./lua-script.ts";
import type { RedisClient } from "./redis-client.ts";

/**
 * The newest epochs that were committed, each with its brand: what a database that was restored from a backup does not know. Apart from the
 * epochs that gateways compare with, which are published before the commit too: a process killed in between leaves one that no database has. Gateways' logins must not write it.
 */
const COMMITTED_KEY = "committed:epochs";

/** Brands that are remembered. */
export const COMMITTED_MAX = 100;
/** Longer than a restore is put off. */
const TTL_SECONDS = 30 * 24 * 3_600;

const remember = luaScript(
  "rememberCommittedEpochs",
  1,
  `
redis.call('ZADD', KEYS[1], 'GT', unpack(ARGV, 3))
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - tonumber(ARGV[1]))
redis.call('EXPIRE', KEYS[1], ARGV[2])
`,
);

/**
 * Remembers epochs that the database has, by brand, and forgets all but the newest hundred.
 *
 * @throws RedisUnavailable, RedisReplyError
 */
export async function rememberCommittedEpochs(redis: RedisClient, epochs: ReadonlyMap<string, number>): Promise<void> {
  const newest = [...epochs].toSorted(([, a], [, b]) => b - a).slice(0, COMMITTED_MAX);
  if (newest.length === 0) return;
  const scores = newest.flatMap<string | number>(([brandId, epoch]) => [epoch, brandId]);
  await redis.run(COMMITTED_KEY, (commands) => remember(commands, COMMITTED_KEY, COMMITTED_MAX, TTL_SECONDS, ...scores));
}

/**
 * Returns the newest epochs that were committed, by brand.
 *
 * @throws RedisUnavailable, RedisReplyError
 */
export async function committedEpochs(redis: RedisClient): Promise<Map<string, number>> {
  const found = await redis.run(COMMITTED_KEY, (commands) => commands.zrange(COMMITTED_KEY, "0", "-1", "WITHSCORES"));
  const pairs = Array.from({ length: found.length / 2 }, (_, i) => [found[2 * i] ?? "", Number(found[2 * i + 1])] as const);
  return new Map(pairs);
}
