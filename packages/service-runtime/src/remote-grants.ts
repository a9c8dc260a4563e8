import type { KeyObject } from "node:crypto";
import { AppError } from "@brand-records/errors";
import { FRESH_GRANT_SECONDS, publicKeyFrom, verifyGrant, type GrantAudience } from "@brand-records/grant";
import type { SessionsServiceService } from "@brand-records/proto/accounts/v1";
import { isUnimplemented, newCallContext, type CallContext, type Grants, type Person, type RpcClient } from "@brand-records/rpc";
import { notTheirs } from "./memberships.ts";

/** An id that is not known is asked for again after this: a forged one must not keep accounts busy. */
const UNKNOWN_MS = 1_000;
/** The keys are read again after this: accounts may have lost a pepper that others know. */
const KNOWN_MS = 60_000;
const ASK_MS = 5_000;

/** Errors about the person or the grant, which are passed on. Any other leaves open who acts. */
const ABOUT_THE_GRANT: ReadonlySet<string> = new Set(["invalid_session", "not_found", "timeout"]);

type Sessions = Pick<RpcClient<SessionsServiceService>, "checkGrant" | "listGrantKeys">;

/** Proves the grants of a service other than accounts: by asking accounts, or by the signature where that suffices. */
export class RemoteGrants implements Grants {
  readonly #sessions: Sessions;
  readonly #audience: GrantAudience;
  #keys: ReadonlyMap<string, KeyObject> = new Map();
  #readAt = -Infinity;
  #reading: Promise<void> | undefined;

  constructor(sessions: Sessions, audience: GrantAudience) {
    this.#sessions = sessions;
    this.#audience = audience;
  }

  async prove(grant: string, need: Parameters<Grants["prove"]>[1], call: CallContext): Promise<Person | undefined> {
    try {
      return await this.#prove(grant, need, call);
    } catch (error) {
      if (isUnimplemented(error)) return undefined;
      if (error instanceof AppError && ABOUT_THE_GRANT.has(error.kind)) throw error;
      throw new AppError("unavailable", "Who acts cannot be checked at the moment, and nothing was changed. Try again.", { cause: error });
    }
  }

  async #prove(grant: string, { brandId, bySignature }: Parameters<Grants["prove"]>[1], call: CallContext): Promise<Person> {
    if (bySignature) return this.#bySignature(grant, brandId, call);
    if (brandId === undefined) throw new Error("accounts is asked about a grant for a brand only");
    const request = { grant, audience: this.#audience, brand_id: brandId };
    const context = { ...call, deadline: Math.min(call.deadline, Date.now() + ASK_MS) };
    const { email, role, via, limited_to } = await this.#sessions.checkGrant(request, context);
    const brand = { id: brandId, role: role === "owner" ? role : "member" } as const;
    return { email, via: via ?? null, limitedTo: limited_to ?? null, brand };
  }

  async #bySignature(grant: string, brandId: string | undefined, call: CallContext): Promise<Person> {
    const { session: _, ...person } = await verifyGrant(grant, this.#audience, (id) => this.#keyOf(id, call), {
      maxAgeSeconds: FRESH_GRANT_SECONDS,
    });
    if (brandId === undefined || person.brand?.id === brandId) return person;
    throw notTheirs();
  }

  async #keyOf(id: string, call: CallContext): Promise<KeyObject> {
    const ageMs = performance.now() - this.#readAt;
    if (ageMs > (this.#keys.has(id) ? KNOWN_MS : UNKNOWN_MS)) await this.#read(call);
    const key = this.#keys.get(id);
    if (key !== undefined) return key;
    throw new AppError("unavailable", "No accounts process that was asked has the key of the grant.");
  }

  /** Calls at the same time share one reading, which none of them ends. In logs and traces it belongs to the first. */
  #read({ requestId, traceparent }: CallContext): Promise<void> {
    this.#reading ??= this.#sessions
      .listGrantKeys({}, { ...newCallContext(ASK_MS, requestId), traceparent })
      .then(({ keys }) => {
        this.#keys = new Map(keys.map(({ id, public_key }) => [id, publicKeyFrom(public_key)]));
        this.#readAt = performance.now();
      })
      .finally(() => (this.#reading = undefined));
    return this.#reading;
  }
}
