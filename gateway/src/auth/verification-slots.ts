import { LRUCache } from "lru-cache";

/** Keys not known to be valid. Anyone can make up keys with a right checksum; they must not fill accounts with work. */
const UNPROVEN_MAX = 256;
/** Keys that were valid when last verified. They cannot be made up, so the bound only protects accounts from a surge. */
const PROVEN_MAX = 1_024;
/** Some 10 MB. Only valid keys enter, so a flood of made-up ones evicts none. */
const PROVEN_KEYS_MAX = 50_000;

/**
 * Bounds the verifications under way, apart for keys that were valid lately and for all others: however many keys are made up, those in
 * use are verified.
 */
export class VerificationSlots {
  readonly #proven = new LRUCache<string, true>({ max: PROVEN_KEYS_MAX });
  readonly #underWay = { proven: 0, unproven: 0 };

  isFree(id: string): boolean {
    return this.#proven.has(id) ? this.#underWay.proven < PROVEN_MAX : this.#underWay.unproven < UNPROVEN_MAX;
  }

  /** Holds a slot of the key's kind until `work` ends. */
  async hold<T>(id: string, work: () => Promise<T>): Promise<T> {
    // `get` refreshes its place among the last 50,000.
    const kind = this.#proven.get(id) === true ? "proven" : "unproven";
    this.#underWay[kind] += 1;
    try {
      return await work();
    } finally {
      this.#underWay[kind] -= 1;
    }
  }

  /** The key is valid. */
  reserve(id: string): void {
    this.#proven.set(id, true);
  }

  /** The key is valid no more. */
  release(id: string): void {
    this.#proven.delete(id);
  }
}
