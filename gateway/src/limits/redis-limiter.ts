import { EPOCH_TTL_SECONDS, epochKey, luaScript, windowKey, type RedisClient } from "@brand-records/redis";
import { WINDOW_SECONDS, type Spend, type Verdict } from "./rate-limiter.ts";

const STALE = 0;
const ADMITTED = 1;
const REFUSED = 2;

/**
 * The brand's window is a list of the times of its accepted requests, newest at the head: 2.7 KB for 240 requests, where a
 * sorted set takes 29 KB. Times are whole microseconds, which Lua's doubles hold exactly, written in full ("%.0f") so that
 * the list stores integers. They never decrease, even if the clock is set back, so the limit-th entry alone decides, and
 * popping expired entries from the tail leaves fewer than `limit` entries whenever a request is accepted.
 */
const spendScript = luaScript(
  "spendFromBrandWindow",
  2,
  `
local epochKey, windowKey = KEYS[1], KEYS[2]
local epoch, fresh, limit = tonumber(ARGV[1]), ARGV[2] == '1', tonumber(ARGV[3])
local epochTtl, window = ARGV[4], tonumber(ARGV[5]) * 1000000

local known = tonumber(redis.call('GET', epochKey) or '')
if fresh then
  if not known or known < epoch then redis.call('SET', epochKey, ARGV[1], 'EX', epochTtl) end
elseif known ~= epoch then
  return { ${STALE} }
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
now = math.max(now, tonumber(redis.call('LINDEX', windowKey, 0) or '0'))

local limitThNewest = tonumber(redis.call('LINDEX', windowKey, limit - 1) or '')
if limitThNewest and now - limitThNewest < window then
  return { ${REFUSED}, math.ceil((limitThNewest + window - now) / 1000000) }
end

local oldest = tonumber(redis.call('LINDEX', windowKey, -1) or '')
while oldest and now - oldest >= window do
  redis.call('RPOP', windowKey)
  oldest = tonumber(redis.call('LINDEX', windowKey, -1) or '')
end
local accepted = redis.call('LPUSH', windowKey, string.format('%.0f', now))
redis.call('PEXPIRE', windowKey, window / 1000)
return { ${ADMITTED}, limit - accepted, math.ceil(((oldest or now) + window - now) / 1000000) }
`,
);

/**
 * One limit for all processes. One script compares the epoch and spends from the window, so nothing can happen between them.
 *
 * @throws RedisUnavailable, RedisReplyError
 */
export async function spendInRedis(redis: RedisClient, { brandId, limit, epoch, fresh }: Spend): Promise<Verdict> {
  const key = windowKey(brandId);
  const reply = await redis.run(key, (commands) =>
    spendScript(commands, epochKey(brandId), key, epoch, fresh ? 1 : 0, limit, EPOCH_TTL_SECONDS, WINDOW_SECONDS),
  );
  const verdict = reply as [typeof STALE] | [typeof ADMITTED, remaining: number, resetSeconds: number] | [typeof REFUSED, number];
  if (verdict[0] === STALE) return { kind: "stale" };
  if (verdict[0] === REFUSED) return { kind: "refused", limit, retryAfterSeconds: verdict[1] };
  return { kind: "admitted", limit, remaining: verdict[1], resetSeconds: verdict[2] };
}
