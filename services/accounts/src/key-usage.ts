import type { Clock } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";
import { writeLastUses } from "./storage/keys.ts";

const FLUSH_INTERVAL_MS = 5_000;

export interface KeyUsage {
  /** Records that a key is used now. */
  record(keyId: string): void;
  /** Writes what is left. */
  stop(): Promise<void>;
}

/** Collects when keys were last used and writes it in batches: a write per request would cost more than the request. */
export function startKeyUsage(db: Database, clock: Clock, log: Logger): KeyUsage {
  let unwritten = new Map<string, number>();

  const flush = async (): Promise<void> => {
    if (unwritten.size === 0) return;
    const batch = unwritten;
    unwritten = new Map();
    try {
      await writeLastUses(db, batch);
    } catch (error) {
      // Kept for the next flush; later uses of the same keys win.
      unwritten = new Map([...batch, ...unwritten]);
      log.warn({ err: error, keys: batch.size }, "last uses of keys cannot be written");
    }
  };
  const timer = setInterval(() => void flush(), FLUSH_INTERVAL_MS);

  return {
    record: (keyId) => void unwritten.set(keyId, clock.now()),
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
