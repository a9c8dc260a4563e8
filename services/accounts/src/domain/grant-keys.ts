import type { KeyObject } from "node:crypto";
import { AppError } from "@brand-records/errors";
import { grantKeyFrom, signGrant, verifyGrant, type Grant, type GrantAudience, type GrantKey } from "@brand-records/identity";
import type { Pepper } from "./key.ts";

/** All processes have a pepper, by the order of a rotation, long before it is the newest that they share. */
const SHARED_MS = 5_000;

/** The keys of grants. They derive from the peppers, which every accounts process has: no other secret to make and rotate. */
export class GrantKeys {
  readonly #keys: ReadonlyMap<string, GrantKey>;
  readonly #now: () => number;
  #shared: { readonly version: number; readonly until: number } | undefined;

  /** @param now the database's time, in milliseconds since 1970 */
  constructor(peppers: readonly Pepper[], now: () => number) {
    this.#now = now;
    this.#keys = new Map(peppers.map(({ version, bytes }) => [String(version), grantKeyFrom(String(version), bytes)]));
  }

  /** Returns the key to sign with. @param readVersion finds the newest pepper that every accounts process has */
  async shared(readVersion: () => Promise<number>): Promise<GrantKey> {
    if (this.#shared === undefined || this.#shared.until < performance.now()) {
      this.#shared = { version: await readVersion(), until: performance.now() + SHARED_MS };
    }
    const key = this.#keys.get(String(this.#shared.version));
    if (key === undefined) throw new Error(`no pepper has version ${this.#shared.version}`);
    return key;
  }

  sign(grant: Grant, audience: GrantAudience, key: GrantKey): Promise<string> {
    return signGrant(grant, audience, key, new Date(this.#now()));
  }

  /** @throws AppError like `verifyGrant`; `unavailable` if this process lacks the pepper */
  verify(grant: string, audience: GrantAudience): Promise<Grant> {
    const findKey = (id: string): KeyObject => {
      const key = this.#keys.get(id);
      if (key !== undefined) return key.secret;
      throw new AppError("unavailable", "This process lacks the pepper of the grant: another one may have it");
    };
    return verifyGrant(grant, audience, findKey, new Date(this.#now()));
  }
}
