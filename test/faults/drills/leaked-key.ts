import { eventually } from "@brand-records/testkit";
import type { DrillSystem } from "./drill-system.ts";

/** A key that has leaked: its owner revokes it in the console while Redis is away. */
export class LeakedKey {
  readonly #system: Pick<DrillSystem, "stack" | "brand" | "owner">;
  readonly #secret: string;
  readonly #id: string;

  private constructor(system: Pick<DrillSystem, "stack" | "brand" | "owner">, secret: string, id: string) {
    this.#system = system;
    this.#secret = secret;
    this.#id = id;
  }

  /** Creates a key, and uses it until the gateway has cached it. */
  static async inUse(system: Pick<DrillSystem, "stack" | "brand" | "owner">): Promise<LeakedKey> {
    const { key, secret } = await system.owner.call("keys.create", { brand_id: system.brand.id, name: "Leaked", may_prepare: false });
    const leaked = new LeakedKey(system, secret, key.id);
    for (let round = 0; round < 3; round += 1) expect(await leaked.status()).toBe(200);
    return leaked;
  }

  /** HTTP status of a request with the key. */
  async status(): Promise<number> {
    return (await this.#system.stack.get("/api/v1/links", this.#secret)).status;
  }

  /** Revokes it. The console names a time in the next half minute, and the audit log has a success. */
  async revoke(): Promise<void> {
    const { owner, brand } = this.#system;
    const { may_be_accepted_until: until } = await owner.call("keys.revoke", { brand_id: brand.id, key_id: this.#id });
    const remainingMs = Date.parse(until ?? "") - Date.now();
    expect(remainingMs).toBeGreaterThan(0);
    expect(remainingMs).toBeLessThanOrEqual(31_000);
    const { entries } = await owner.call("audit.list", { brand_id: brand.id, action: "key.revoke" });
    expect(entries[0]).toMatchObject({ subject_id: this.#id, outcome: "done" });
  }

  /** Resolves when the gateway refuses it: within half a minute. */
  untilRefused(): Promise<void> {
    return eventually(async () => expect(await this.status()).toBe(401), { timeoutMs: 40_000, everyMs: 250 });
  }
}
