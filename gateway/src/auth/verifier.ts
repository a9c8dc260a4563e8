import { AppError } from "@brand-records/errors";
import { entriesMax, TIMED_OUT, withTimeout } from "@brand-records/lifecycle";
import type { VerificationServiceService } from "@brand-records/proto/accounts/v1";
import { PRINCIPAL_TTL_MS } from "@brand-records/redis";
import type { CallContext, RpcClient } from "@brand-records/rpc";
import { LRUCache } from "lru-cache";
import { invalidKey } from "./authorization-header.ts";
import { isIntegratingBrand, type Principal, type Tier } from "./principal.ts";
import { SingleFlight } from "./single-flight.ts";

const PRINCIPALS_MAX = 50_000;
/** A refused key stays refused: it is revoked permanently, or unknown, and keys are random. */
const REFUSED_TTL_MS = 30_000;
const REFUSED_MAX = 10_000;
/** Other callers may join a verification, so it must not end with the first caller's deadline. */
const VERIFICATION_DEADLINE_MS = 5_000;

/**
 * Finds the principal of a key. Caches principals; callers may use a cached one only if the rate limiter confirms
 * that the brand's epoch is still the principal's.
 */
export class Verifier {
  readonly #accounts: Pick<RpcClient<VerificationServiceService>, "verifyKey">;
  readonly #principals = new LRUCache<string, Principal>({ ...entriesMax(PRINCIPALS_MAX), ttl: PRINCIPAL_TTL_MS });
  readonly #refused = new LRUCache<string, true>({ ...entriesMax(REFUSED_MAX), ttl: REFUSED_TTL_MS });
  readonly #slots = new VerificationSlots();
  readonly #flights = new SingleFlight<Principal>();

  constructor(accounts: Pick<RpcClient<VerificationServiceService>, "verifyKey">) {
    this.#accounts = accounts;
  }

  /** May be outdated. */
  cached(keyDigest: Buffer): Principal | undefined {
    return this.#principals.get(keyDigest.toString("latin1"));
  }

  /**
   * Returns the principal that accounts reads after this call began. The caller must check whether the brand may use its
   * keys; a brand that may not is never cached, so that it can return without a new epoch.
   *
   * @throws AppError `invalid_key`; `unavailable` or `timeout` from accounts or at the caller's deadline
   */
  async verify(keyDigest: Buffer, { requestId, traceparent, deadline }: CallContext): Promise<Principal> {
    const id = keyDigest.toString("latin1");
    if (this.#refused.has(id)) throw invalidKey();
    // Joining adds no call: the waiting flight serves it.
    if (!this.#flights.has(id) && !this.#slots.isFree(id)) {
      throw new AppError("unavailable", "Too many keys are being verified. Try again shortly.", {
        retryAfterSeconds: 1,
        dependency: "accounts",
      });
    }
    // Other requests may join, so the flight carries neither this client's signal nor its deadline.
    const verification = this.#flights.run(id, () => this.#slots.hold(id, () => this.#verify(id, keyDigest, { requestId, traceparent })));
    const principal = await withTimeout(verification, deadline - Date.now());
    if (principal === TIMED_OUT) throw new AppError("timeout", "The request took too long. Try again.", { dependency: "accounts" });
    return principal;
  }

  async #verify(id: string, keyDigest: Buffer, context: Omit<CallContext, "deadline">): Promise<Principal> {
    // Removed first: a verification that fails for any reason leaves no principal to trust.
    this.#principals.delete(id);
    const start = performance.now();
    try {
      const deadline = Date.now() + VERIFICATION_DEADLINE_MS;
      const { principal, cacheable } = await this.#accounts.verifyKey({ key_sha256: keyDigest }, { ...context, deadline });
      if (principal == null) throw new Error("verifyKey returned no principal");
      const found: Principal = { ...principal, tier: principal.tier as Tier, verifyAgain: (again) => this.verify(keyDigest, again) };
      this.#slots.markProven(id);
      // The TTL counts from before the call: accounts relies on it when it says by when caches have expired, and a call may be slow.
      if (cacheable && isIntegratingBrand(found)) this.#principals.set(id, found, { start });
      return found;
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== "invalid_key") throw error;
      this.#slots.markUnproven(id);
      this.#refused.set(id, true);
      throw invalidKey();
    }
  }
}

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
  readonly #proven = new LRUCache<string, true>(entriesMax(PROVEN_KEYS_MAX));
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
