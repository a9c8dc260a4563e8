import type { Database } from "@brand-records/postgres";
import { committedEpochs, publishEpoch, readEpoch, type RedisClient } from "@brand-records/redis";
import { pageOfBrands, raiseEpochsAbove } from "../storage/brands.ts";

/** Concurrent commands to Redis, and brands in one statement. */
const BATCH_SIZE = 100;

/**
 * Epochs follow the clock, so those that a restored database has forgotten are below the present time, if Redis does not know them either and
 * the clock of the lost server was at most this far ahead.
 */
const CLOCK_AHEAD_MS = 60_000;

/**
 * Raises every brand's epoch above the one that it has, the one in Redis, and any that a restored database has forgotten; and publishes it.
 * What gateways verified before is not trusted afterwards. Safe to interrupt and repeat, and beside running processes.
 *
 * @param redis undefined: gateways cache nothing
 * @returns the number of brands
 * @throws RedisUnavailable, RedisReplyError; the brands before are done
 */
export async function raiseEpochs(db: Database, redis: RedisClient | undefined): Promise<number> {
  const committed = redis === undefined ? new Map<string, number>() : await committedEpochs(redis);
  let brands = 0;
  let afterId = "";
  for (;;) {
    const page = await pageOfBrands(db, afterId, BATCH_SIZE);
    const last = page.at(-1);
    if (last === undefined) return brands;
    const seen = page.map(async ({ id }) => {
      const inRedis = redis && (await readEpoch(redis, id));
      return [id, Math.max(inRedis ?? 0, committed.get(id) ?? 0)] as const;
    });
    const raised = await raiseEpochsAbove(db, new Map(await Promise.all(seen)), CLOCK_AHEAD_MS);
    if (redis !== undefined) await Promise.all(raised.map(({ id, epoch }) => publishEpoch(redis, id, epoch)));
    brands += raised.length;
    afterId = last.id;
  }
}
