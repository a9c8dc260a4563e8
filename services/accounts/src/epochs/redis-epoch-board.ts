import { publishEpoch, RedisUnavailable, type GuardedRedis } from "@brand-records/redis";
import type { EpochBoard } from "./epoch-board.ts";

export function redisEpochBoard(redis: GuardedRedis): EpochBoard {
  return {
    async publish(brandId, epoch) {
      try {
        await publishEpoch(redis, brandId, epoch);
        return true;
      } catch (error) {
        // Logged once, when Redis' state changed; the republisher makes up for it.
        if (error instanceof RedisUnavailable) return false;
        throw error;
      }
    },
  };
}
