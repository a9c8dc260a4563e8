import type { ClientUsage } from "@brand-records/proto/accounts/v1";

const MANILA_OFFSET_MS = 8 * 3_600_000;
/** Names of a key and day that are counted apart until they are recorded. Accounts has the same bound for all gateways together. */
const NAMES_MAX = 20;
/** The name under which the rest is counted. */
const OTHER = "other";
/** Keys, days and names that are not recorded yet: 10 MB. */
const COUNTS_MAX = 50_000;

type Key = Pick<ClientUsage, "brand_id" | "key_id">;

/** Messages of assistants by day, key and declared name. Bounded: beyond, messages under names that are not counted yet are dropped. */
export class ClientCounts {
  /** Keys are days and key ids. */
  readonly #keys = new Map<string, { readonly key: Key; readonly day: string; readonly names: Map<string, number> }>();
  readonly #max: number;
  #size = 0;
  #dropped = 0;

  constructor(max = COUNTS_MAX) {
    this.#max = max;
  }

  /** Messages dropped so far. */
  get dropped(): number {
    return this.#dropped;
  }

  get size(): number {
    return this.#size;
  }

  /** @param now milliseconds since the epoch */
  add({ brand_id, key_id }: Key, declared: string, now: number): void {
    const day = new Date(now + MANILA_OFFSET_MS).toISOString().slice(0, 10);
    const id = `${day} ${key_id}`;
    const names = this.#keys.get(id)?.names ?? new Map<string, number>();
    const name = names.has(declared) || names.size < NAMES_MAX ? declared : OTHER;
    const counted = names.get(name);
    if (counted === undefined) {
      if (this.#size === this.#max) {
        this.#dropped += 1;
        return;
      }
      this.#size += 1;
      this.#keys.set(id, { key: { brand_id, key_id }, day, names });
    }
    names.set(name, (counted ?? 0) + 1);
  }

  /** Removes and returns up to `max` counts, oldest first. */
  take(max: number): ClientUsage[] {
    const taken: ClientUsage[] = [];
    for (const [id, { key, day, names }] of this.#keys) {
      for (const [name, messages] of names) {
        if (taken.length === max) return taken;
        taken.push({ ...key, day, name, messages });
        names.delete(name);
        this.#size -= 1;
      }
      this.#keys.delete(id);
    }
    return taken;
  }
}
