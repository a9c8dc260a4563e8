import type { Database } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";
import { noteKeyUses } from "./storage/keys.ts";

const FLUSH_EVERY_MS = 5_000;

/** Collects when keys were last verified and writes it in batches: a write per request would cost more than the request. */
export function startKeyUses(db: Database, log: Logger): { note(keyId: string): void; stop(): Promise<void> } {
  let pending = new Map<string, number>();

  const flush = async (): Promise<void> => {
    if (pending.size === 0) return;
    const uses = pending;
    pending = new Map();
    try {
      await noteKeyUses(db, uses);
    } catch (error) {
      // Kept for the next round, unless the key was used again since.
      pending = new Map([...uses, ...pending]);
      log.warn({ err: error, keys: uses.size }, "last uses not written yet");
    }
  };
  const timer = setInterval(() => void flush(), FLUSH_EVERY_MS);

  return {
    note: (keyId) => void pending.set(keyId, Date.now()),
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
