import { publishEpoch, type GuardedRedis } from "@brand-records/redis";
import type { Logger } from "@brand-records/telemetry";
import type { EpochBoard } from "./epoch-board.ts";

export function redisEpochBoard(redis: GuardedRedis, log: Logger): EpochBoard {
  return {
    async publish(brandId, epoch) {
      try {
        await publishEpoch(redis, brandId, epoch);
      } catch (error) {
        log.warn({ err: error, brand_id: brandId, epoch }, "epoch not published yet; it will be within a second of Redis answering");
      }
    },
  };
}
