import { AppError } from "@brand-records/errors";
import { TIMED_OUT, withTimeout } from "@brand-records/lifecycle";
import type { VerificationServiceService } from "@brand-records/proto/accounts/v1";
import { PRINCIPAL_TTL_MS } from "@brand-records/redis";
import type { CallContext, RpcClient } from "@brand-records/rpc";
import { LRUCache } from "lru-cache";
import { invalidKey } from "./authorization-header.ts";
import { SingleFlight } from "./single-flight.ts";
import { mayIntegrate, type Principal, type Tier } from "./principal.ts";
import { VerificationSlots } from "./verification-slots.ts";

const PRINCIPALS_MAX = 50_000;
/** A refused key stays refused: it is unknown, and keys are random, or revoked for good. */
const REFUSED_TTL_MS = 30_000;
const REFUSED_MAX = 10_000;
/** Deadline of a verification. Other callers may join it, so it must not end with the first caller's deadline. */
const VERIFICATION_DEADLINE_MS = 5_000;

/**
 * Finds out whom a key belongs to. Remembers principals, which callers may use only with the rate limiter's word that
 * the brand's epoch is still theirs.
 */
export class Verifier {
  readonly #accounts: Pick<RpcClient<VerificationServiceService>, "verifyKey">;
  readonly #principals = new LRUCache<string, Principal>({ max: PRINCIPALS_MAX, ttl: PRINCIPAL_TTL_MS });
  readonly #refused = new LRUCache<string, true>({ max: REFUSED_MAX, ttl: REFUSED_TTL_MS });
  readonly #slots = new VerificationSlots();
  readonly #flights = new SingleFlight<Principal>();

  constructor(accounts: Pick<RpcClient<VerificationServiceService>, "verifyKey">) {
    this.#accounts = accounts;
  }

  /** Perhaps outdated. */
  remembered(keyDigest: Buffer): Principal | undefined {
    return this.#principals.get(keyDigest.toString("latin1"));
  }

  /**
   * As accounts say now: the answer was read after this call began. Whether the brand may integrate is for the caller to
   * ask; one that may not is never remembered, so that its way back needs no epoch.
   *
   * @throws AppError `invalid_key`; `unavailable` or `timeout` if accounts are, or at the caller's deadline
   */
  async verify(keyDigest: Buffer, { requestId, traceparent, deadline }: CallContext): Promise<Principal> {
    const id = keyDigest.toString("latin1");
    if (this.#refused.has(id)) throw invalidKey();
    // Joining costs accounts nothing beyond the flight that waits already.
    if (!this.#flights.has(id) && !this.#slots.isFree(id)) {
      throw new AppError("unavailable", "Too many keys are being verified just now. Try again shortly.", { retryAfterSeconds: 1 });
    }
    // Others may join, so the flight ends neither with this request's client nor with its deadline.
    const verification = this.#flights.run(id, () => this.#slots.hold(id, () => this.#ask(id, keyDigest, { requestId, traceparent })));
    const principal = await withTimeout(verification, deadline - Date.now());
    if (principal === TIMED_OUT) throw new AppError("timeout", "The answer took too long. Try again.");
    return principal;
  }

  async #ask(id: string, keyDigest: Buffer, context: Omit<CallContext, "deadline">): Promise<Principal> {
    // Forgotten first: a verification that fails for whatever reason leaves nothing to be trusted behind.
    this.#principals.delete(id);
    const start = performance.now();
    try {
      const deadline = Date.now() + VERIFICATION_DEADLINE_MS;
      const { principal, cacheable } = await this.#accounts.verifyKey({ key_sha256: keyDigest }, { ...context, deadline });
      if (principal == null) throw new Error("verifyKey answered without a principal");
      const found: Principal = { ...principal, tier: principal.tier as Tier };
      this.#slots.reserve(id);
      // Counted from before the question: accounts relies on it when it waits for caches to expire, and an answer may be slow.
      if (cacheable && mayIntegrate(found)) this.#principals.set(id, found, { start });
      return found;
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== "invalid_key") throw error;
      this.#slots.release(id);
      this.#refused.set(id, true);
      throw invalidKey();
    }
  }
}
