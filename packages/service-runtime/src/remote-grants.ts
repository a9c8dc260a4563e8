import { AppError } from "@brand-records/errors";
import type { GrantAudience } from "@brand-records/identity";
import type { SessionsServiceService } from "@brand-records/proto/accounts/v1";
import type { CallContext, Grants, Person, RpcClient } from "@brand-records/rpc";

const ASK_MS = 5_000;

/** Errors about the person or the grant, which are passed on. Any other leaves open who acts. */
const ABOUT_THE_GRANT: ReadonlySet<string> = new Set(["invalid_session", "not_found", "timeout"]);

/** Proves the grants of a service other than accounts, by asking accounts each time: a session that has ended does nothing more at once. */
export class RemoteGrants implements Grants {
  readonly #sessions: Pick<RpcClient<SessionsServiceService>, "checkGrant">;
  readonly #audience: GrantAudience;

  constructor(sessions: Pick<RpcClient<SessionsServiceService>, "checkGrant">, audience: GrantAudience) {
    this.#sessions = sessions;
    this.#audience = audience;
  }

  async prove(grant: string, brandId: string | undefined, call: CallContext): Promise<Person> {
    const request = { grant, audience: this.#audience, brand_id: brandId };
    const context = { ...call, deadline: Math.min(call.deadline, Date.now() + ASK_MS) };
    try {
      const { email, role, via, limited_to, client } = await this.#sessions.checkGrant(request, context);
      const brand = brandId === undefined ? null : ({ id: brandId, role: role === "owner" ? role : "member" } as const);
      const from = { address: client?.address ?? null, browser: client?.browser ?? null };
      return { email, via: via ?? null, limitedTo: limited_to ?? null, brand, client: from };
    } catch (error) {
      if (error instanceof AppError && ABOUT_THE_GRANT.has(error.kind)) throw error;
      throw new AppError("unavailable", "Who acts cannot be checked at the moment, and nothing was changed. Try again.", { cause: error });
    }
  }
}
