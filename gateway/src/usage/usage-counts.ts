import { randomUUID } from "node:crypto";
import type { ClientUsage, FailedMinute, MinuteUsage } from "@brand-records/proto/accounts/v1";
import { ClientCounts } from "./client-counts.ts";
import { FailureCounts } from "./failure-counts.ts";

const MINUTE_MS = 60_000;
/** Keys and minutes that are counted and not recorded yet: 10 MB. Accounts may be unavailable for a while. */
const COUNTS_MAX = 50_000;
/** The most minutes, and the most clients, that accounts takes at once. */
const BATCH_MAX = 5_000;
/** The most counts of failures that accounts takes at once. */
const BATCH_FAILURES_MAX = 2_000;

/** Counts that are recorded together. A repetition has the same id, so that it adds nothing. */
export interface UsageBatch {
  readonly batch_id: string;
  readonly minutes: MinuteUsage[];
  readonly clients: ClientUsage[];
  readonly failures: FailedMinute[];
}

interface Counts {
  readonly brandId: string;
  accepted: number;
  refused: number;
}

/** Requests by minute and key, by client, and those that failed. Bounded: beyond, requests of keys that are not counted in this minute yet are dropped. */
export class UsageCounts {
  readonly clients = new ClientCounts();
  readonly failures = new FailureCounts();
  /** Keys are starts of minutes, then keys. */
  readonly #minutes = new Map<number, Map<string, Counts>>();
  readonly #max: number;
  #size = 0;
  #dropped = 0;

  constructor(max = COUNTS_MAX) {
    this.#max = max;
  }

  /** Requests dropped so far. */
  get dropped(): number {
    return this.#dropped + this.clients.dropped + this.failures.dropped;
  }

  get size(): number {
    return this.#size + this.clients.size + this.failures.size;
  }

  /** Costs two look-ups. @param now milliseconds since the epoch */
  add({ brand_id, key_id }: { readonly brand_id: string; readonly key_id: string }, verdict: "accepted" | "refused", now: number): void {
    const counts = this.#countsOf(now - (now % MINUTE_MS), key_id, brand_id);
    if (counts === undefined) this.#dropped += 1;
    else counts[verdict] += 1;
  }

  #countsOf(minute: number, keyId: string, brandId: string): Counts | undefined {
    let keys = this.#minutes.get(minute);
    const counted = keys?.get(keyId);
    if (counted !== undefined) return counted;
    if (this.#size === this.#max) return undefined;
    if (keys === undefined) this.#minutes.set(minute, (keys = new Map()));
    const counts = { brandId, accepted: 0, refused: 0 };
    keys.set(keyId, counts);
    this.#size += 1;
    return counts;
  }

  /** Removes and returns what fits into a batch, oldest first; undefined if there is nothing. */
  takeBatch(): UsageBatch | undefined {
    const [minutes, clients, failures] = [this.#takeMinutes(), this.clients.take(BATCH_MAX), this.failures.take(BATCH_FAILURES_MAX)];
    return minutes.length + clients.length + failures.length === 0 ? undefined : { batch_id: randomUUID(), minutes, clients, failures };
  }

  #takeMinutes(): MinuteUsage[] {
    const minutes: MinuteUsage[] = [];
    for (const [minute, keys] of this.#minutes) {
      const start = new Date(minute).toISOString();
      for (const [keyId, { brandId, accepted, refused }] of keys) {
        if (minutes.length === BATCH_MAX) return minutes;
        minutes.push({ brand_id: brandId, key_id: keyId, minute: start, accepted, refused });
        keys.delete(keyId);
        this.#size -= 1;
      }
      this.#minutes.delete(minute);
    }
    return minutes;
  }
}
