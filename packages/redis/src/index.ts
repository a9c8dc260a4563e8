export { EPOCH_TTL_SECONDS, epochKey, forgetBrand, PRINCIPAL_TTL_MS, publishEpoch, readEpoch, windowKey } from "./brand-epoch.ts";
export { committedEpochs, rememberCommittedEpochs } from "./committed-epochs.ts";
export { keySlot, SLOTS } from "./cluster-slots.ts";
export { luaScript } from "./lua-script.ts";
export { openRedis } from "./open-redis.ts";
export type { RedisClient, RedisLog } from "./redis-client.ts";
export { RedisReplyError, RedisUnavailable, refusalIn } from "./redis-errors.ts";
