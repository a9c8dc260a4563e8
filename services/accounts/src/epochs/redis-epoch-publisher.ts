import { publishEpoch, RedisReplyError, RedisUnavailable, type RedisClient, type RedisLog } from "@brand-records/redis";
import { RepeatedWarning } from "@brand-records/telemetry";
import type { EpochPublisher } from "./epoch-publisher.ts";

export function redisEpochPublisher(redis: RedisClient, log: RedisLog): EpochPublisher {
  const refused = new RepeatedWarning(log, "redis refuses a brand's epoch: gateways find out from accounts");
  return {
    async publish(brandId, epoch) {
      try {
        await publishEpoch(redis, brandId, epoch);
        return true;
      } catch (error) {
        // Logged once, when Redis' state changed; the republisher makes up for it.
        if (error instanceof RedisUnavailable) return false;
        if (!(error instanceof RedisReplyError)) throw error;
        refused.write({ err: error, brand_id: brandId });
        return false;
      }
    },
  };
}
