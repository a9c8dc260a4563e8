import { repeat } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import type { Maintenance } from "@brand-records/service-runtime";
import { epochsChangedWithin } from "../storage/brands.ts";
import { CACHES_EXPIRE_AFTER_SECONDS, type CommittedEpochs, type EpochPublisher } from "./epoch-publisher.ts";

const INTERVAL_MS = 1_000;
/** Longer than any failover or restart that may lose a published epoch. */
const CHANGED_WITHIN_SECONDS = 600;
/** Concurrent publications: more would only queue behind each other and time out. */
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
