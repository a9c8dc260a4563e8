import { LRUCache } from "lru-cache";

/** Slots for keys not known to be valid. Anyone can invent keys with a correct checksum; they must not overload accounts. */
const UNPROVEN_MAX = 256;
/** Slots for keys that were valid when last verified. They cannot be invented, so the bound only protects accounts from a surge. */
const PROVEN_MAX = 1_024;
/** Takes about 10 MB. Only valid keys enter, so a flood of invented keys evicts none of them. */
const PROVEN_KEYS_MAX = 50_000;

/**
 * Bounds the verifications in progress, separately for keys that were recently valid and for all others: a flood of invented
 * keys never blocks the keys in use.
 */
export class VerificationSlots {
  readonly #proven = new LRUCache<string, true>({ max: PROVEN_KEYS_MAX });
  readonly #inProgress = { proven: 0, unproven: 0 };

  isFree(id: string): boolean {
    return this.#proven.has(id) ? this.#inProgress.proven < PROVEN_MAX : this.#inProgress.unproven < UNPROVEN_MAX;
  }

  /** Runs `work` in a slot of the key's kind. Frees the slot when `work` ends. Does not wait for a free slot: see `isFree`. */
  async hold<T>(id: string, work: () => Promise<T>): Promise<T> {
    // Unlike `has`, `get` marks the key as recently used, so that it is evicted later.
    const kind = this.#proven.get(id) === true ? "proven" : "unproven";
    this.#inProgress[kind] += 1;
    try {
      return await work();
    } finally {
      this.#inProgress[kind] -= 1;
    }
  }

  /** Moves the key to the slots for proven keys. Call it when a verification succeeded. */
  markProven(id: string): void {
    this.#proven.set(id, true);
  }

  /** Moves the key to the slots for all other keys. Call it when the key is no longer valid. */
  markUnproven(id: string): void {
    this.#proven.delete(id);
  }
}
