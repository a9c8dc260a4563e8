import { repeat } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import {
  committedEpochs,
  forgetBrand,
  PRINCIPAL_TTL_MS,
  publishEpoch,
  readEpoch,
  type RedisClient,
  type RedisLog,
  RedisReplyError,
  RedisUnavailable,
  rememberCommittedEpochs,
} from "@brand-records/redis";
import type { Maintenance } from "@brand-records/service-runtime";
import { Counter, type Registry, RepeatedWarning } from "@brand-records/telemetry";
import { epochsChangedWithin, pageOfBrands, raiseEpochsAbove } from "../storage/brands.ts";

/** Gateways trust a cached principal for PRINCIPAL_TTL_MS; one more second covers requests in flight and clock drift. */
export const CACHES_EXPIRE_AFTER_SECONDS = PRINCIPAL_TTL_MS / 1_000 + 1;

/** Publishes each brand's current epoch where gateways read it. Publishing never lowers an epoch. */
export interface EpochPublisher {
  /** Returns whether the epoch was published. The republisher retries a failed one. */
  publish(brandId: string, epoch: number): Promise<boolean>;
  /** Removes what Redis keeps of a deleted brand. Returns whether it did: if not, the keys expire. */
  forget(brandId: string): Promise<boolean>;
}

/** Remembers the newest epochs that the database has: one that is restored from a backup lacks them. */
export interface CommittedEpochs {
  /** Returns whether they were remembered. */
  remember(epochs: ReadonlyMap<string, number>): Promise<boolean>;
}

/** Does nothing: without Redis, gateways may not cache principals and verify every request, so no publication is needed. */
export const noEpochPublisher: EpochPublisher = { publish: async () => true, forget: async () => true };

export function redisEpochPublisher(redis: RedisClient, log: RedisLog, metrics: Registry): EpochPublisher & CommittedEpochs {
  const failed = new Counter({
    name: "epoch_publications_failed_total",
    help: "Writes of brands' epochs to Redis that it refused or did not answer. Each is repeated every second for ten minutes.",
    registers: [metrics],
  });
  const refusedEpoch = new RepeatedWarning(log, "redis refused a brand's epoch: gateways verify its keys with accounts");
  const refusedMemory = new RepeatedWarning(
    log,
    "redis refused to remember what is committed: a restored database would not be noticed by it",
  );
  const whetherDone = async (write: Promise<void>, refusal: RepeatedWarning, fields: object): Promise<boolean> => {
    try {
      await write;
      return true;
    } catch (error) {
      failed.inc();
      // An outage is logged once, by the client, when its state changes.
      if (error instanceof RedisUnavailable) return false;
      if (!(error instanceof RedisReplyError)) throw error;
      refusal.write({ err: error, ...fields });
      return false;
    }
  };
  const ofBrand = (brandId: string, write: Promise<void>): Promise<boolean> => whetherDone(write, refusedEpoch, { brand_id: brandId });
  return {
    publish: (brandId, epoch) => ofBrand(brandId, publishEpoch(redis, brandId, epoch)),
    remember: (epochs) => whetherDone(rememberCommittedEpochs(redis, epochs), refusedMemory, {}),
    forget: (brandId) => ofBrand(brandId, forgetBrand(redis, brandId)),
  };
}

const INTERVAL_MS = 1_000;
/** Longer than any failover or restart that may lose a published epoch. */
const CHANGED_WITHIN_SECONDS = 600;
/** Concurrent commands to Redis: more would only queue behind each other and time out. */
const BATCH_SIZE = 100;

/**
 * Publishes the epochs of the last ten minutes every second, from the start: a publication lost in a Redis failover, or
 * because this process died between commit and publication, is repeated within a second. What was read here is committed, so it is
 * remembered too, for the start after a restore.
 */
export function startEpochRepublisher(
  db: Database,
  publisher: Pick<EpochPublisher, "publish"> & CommittedEpochs,
  maintenance: Maintenance,
): { stop(): Promise<void> } {
  const republish = async (): Promise<void> => {
    const changed = await epochsChangedWithin(db, CHANGED_WITHIN_SECONDS, CACHES_EXPIRE_AFTER_SECONDS);
    await publisher.remember(new Map(changed.map(({ id, epoch }) => [id, epoch])));
    for (let start = 0; start < changed.length; start += BATCH_SIZE) {
      // A failed publication returns immediately: a brand that Redis refuses, or a node that is down, delays no other.
      await Promise.all(changed.slice(start, start + BATCH_SIZE).map(({ id, epoch }) => publisher.publish(id, epoch)));
    }
  };
  return repeat(() => maintenance.run("republish epochs", republish), INTERVAL_MS);
}

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
