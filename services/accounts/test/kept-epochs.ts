import type { Database } from "@brand-records/postgres";
import { openMaintenance } from "@brand-records/service-runtime";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { type CommittedEpochs, type EpochPublisher, startEpochRepublisher } from "../src/epochs/epoch-publisher.ts";

export const startTestRepublisher = (db: Database, epochs: KeptEpochs): { stop(): Promise<void> } =>
  startEpochRepublisher(db, epochs, openMaintenance(openLog("accounts", "silent"), openMetrics("accounts")));

/** Keeps epochs as Redis does. Loses what is published while it is unavailable. */
export class KeptEpochs implements EpochPublisher, CommittedEpochs {
  isUnavailable = false;
  readonly published = new Map<string, number>();
  /** Brands, one for each try to publish. */
  readonly tries: string[] = [];
  remembered: ReadonlyMap<string, number> = new Map();

  async publish(brandId: string, epoch: number): Promise<boolean> {
    this.tries.push(brandId);
    if (!this.isUnavailable) this.published.set(brandId, epoch);
    return !this.isUnavailable;
  }

  async remember(epochs: ReadonlyMap<string, number>): Promise<boolean> {
    this.remembered = epochs;
    return true;
  }

  async forget(brandId: string): Promise<boolean> {
    if (!this.isUnavailable) this.published.delete(brandId);
    return !this.isUnavailable;
  }
}
