import { ConfigError } from "@brand-records/config";
import type { Database } from "@brand-records/postgres";
import { committedEpochs, RedisReplyError, RedisUnavailable, type RedisClient } from "@brand-records/redis";
import type { Logger } from "@brand-records/telemetry";
import { epochsOf, isCopyOfAnother, isMarkedRestored } from "../../storage/restored.ts";

const REMEDY =
  "Keys that were revoked and members who were removed since the backup would work again. Run services/accounts/dist/after-restore.js " +
  "with these settings first: docs/operations.md, Restore one service";

/**
 * Refuses to start on a database that was restored and still gives back what has ended since the backup. Three signs: the
 * marker of the restore steps; the schema is another than the one in which its rows were written; Redis remembers a change that the database lacks.
 *
 * @throws ConfigError naming the sign and the remedy
 */
export async function requireNotRestored(db: Database, redis: RedisClient | undefined, log: Logger): Promise<void> {
  if (await isMarkedRestored(db)) refuse("the table accounts.restored_from_backup says that the database was restored from a backup");
  if (await isCopyOfAnother(db)) refuse("the schema accounts is a copy of another one, such as a dump that was restored");
  const lacking = redis === undefined ? undefined : await brandBehind(db, redis, log);
  if (lacking !== undefined)
    refuse(`the database lacks a change to brand ${lacking} that Redis remembers: it was restored, or lost what was committed`);
}

function refuse(sign: string): never {
  throw new ConfigError([`${sign}. ${REMEDY}`]);
}

/** Returns a brand whose epoch in the database is lower than one that was committed. */
async function brandBehind(db: Database, redis: RedisClient, log: Logger): Promise<string | undefined> {
  const committed = await committedIn(redis, log);
  // Read after Redis: what another process commits meanwhile is not missing. Brands that do not exist here may be another deployment's.
  const present = await epochsOf(db, [...committed.keys()]);
  for (const [brandId, epoch] of present) if (epoch < (committed.get(brandId) ?? 0)) return brandId;
  return undefined;
}

/** Redis being away stops no start. */
async function committedIn(redis: RedisClient, log: Logger): Promise<Map<string, number>> {
  try {
    await redis.firstContact;
    return await committedEpochs(redis);
  } catch (error) {
    if (!(error instanceof RedisUnavailable || error instanceof RedisReplyError)) throw error;
    log.warn({ err: error }, "redis does not say which changes the database must have: a restored one would not be noticed");
    return new Map();
  }
}
