import {
  forgetBrand,
  PRINCIPAL_TTL_MS,
  publishEpoch,
  rememberCommittedEpochs,
  RedisReplyError,
  RedisUnavailable,
  type RedisClient,
  type RedisLog,
} from "@brand-records/redis";
import { Counter, RepeatedWarning, type Registry } from "@brand-records/telemetry";

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
