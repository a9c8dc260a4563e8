import { LRUCache } from "lru-cache";

/** For keys not known to be valid. Anyone can invent keys with a correct checksum; they must not overload accounts. */
const UNPROVEN_MAX = 256;
/** For keys that were valid when last verified. They cannot be invented, so the bound only protects accounts from a surge. */
const PROVEN_MAX = 1_024;
/** Some 10 MB. Only valid keys enter, so a flood of invented ones evicts none. */
const PROVEN_KEYS_MAX = 50_000;

/**
 * Bounds the verifications in progress, separately for keys that were valid lately and for all others: a flood of invented
 * keys never blocks the keys in use.
 */
export class VerificationSlots {
  readonly #proven = new LRUCache<string, true>({ max: PROVEN_KEYS_MAX });
  readonly #inProgress = { proven: 0, unproven: 0 };

  isFree(id: string): boolean {
    return this.#proven.has(id) ? this.#inProgress.proven < PROVEN_MAX : this.#inProgress.unproven < UNPROVEN_MAX;
  }

  /** Holds a slot of the key's kind until `work` ends. */
  async hold<T>(id: string, work: () => Promise<T>): Promise<T> {
    // `get` refreshes its place among the last 50,000.
    const kind = this.#proven.get(id) === true ? "proven" : "unproven";
    this.#inProgress[kind] += 1;
    try {
      return await work();
    } finally {
      this.#inProgress[kind] -= 1;
    }
  }

  /** Call it when the key proved valid. */
  reserve(id: string): void {
    this.#proven.set(id, true);
  }

  /** Call it when the key is no longer valid. */
  release(id: string): void {
    this.#proven.delete(id);
  }
}
