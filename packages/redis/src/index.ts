export { EPOCH_TTL_SECONDS, epochKey, PRINCIPAL_TTL_MS, publishEpoch, windowKey } from "./brand-epoch.ts";
export { GuardedRedis, openRedis, type GuardedRedisOptions, type RedisLog } from "./guarded-redis.ts";
export { luaScript, type LuaScript } from "./lua-script.ts";
export { RedisUnavailable } from "./redis-unavailable.ts";
