import { type Grant, GRANT_AUDIENCES, type GrantAudience } from "@brand-records/identity";
import type { Grants, Person } from "@brand-records/rpc";
import type { AccountsDependencies } from "../dependencies.ts";
import { brandNotTheirs, type Membership } from "../domain/brand.ts";
import { hashInGrant, invalidSession, type Session, sessionInGrant } from "../domain/session.ts";
import { findSession } from "../storage/sessions.ts";
import { newestSharedPepper } from "./peppers.ts";

export interface GrantNeed {
  readonly audience: GrantAudience;
  /** The brand of the call; undefined for a call of none. */
  readonly brandId: string | undefined;
}

/** Returns a grant for each service: what the session is, and what the person is in the brand of the call. */
export async function grantsOf(
  { db, grantKeys, peppers }: Pick<AccountsDependencies, "db" | "grantKeys" | "peppers">,
  session: Session,
  token: string,
  membership: Membership | undefined,
  client: Grant["client"],
): Promise<Record<string, string>> {
  const key = await grantKeys.shared(async () => (await db.transaction((sql) => newestSharedPepper(sql, peppers))).version);
  const grant: Grant = {
    email: session.email,
    via: session.made_by,
    limitedTo: session.brand_id,
    session: sessionInGrant(token),
    brand: membership === undefined ? null : { id: membership.brand_id, role: membership.role },
    client,
  };
  return Object.fromEntries(
    await Promise.all(GRANT_AUDIENCES.map(async (audience) => [audience, await grantKeys.sign(grant, audience, key)])),
  );
}

/**
 * Returns the person of a grant, with the role of this moment.
 *
 * @throws AppError `invalid_session` if the session has ended or the grant proves nothing to the audience; `timeout` after its 60 s;
 * `not_found` if the grant is of another brand, or the person is not a member of it; `unavailable` if this process lacks its key
 */
export async function prove(
  { db, grantKeys, sessionLimits }: Pick<AccountsDependencies, "db" | "grantKeys" | "sessionLimits">,
  grant: string,
  { audience, brandId }: GrantNeed,
): Promise<Person> {
  const { session, ...person } = await grantKeys.verify(grant, audience);
  if (brandId !== undefined && person.brand?.id !== brandId) throw brandNotTheirs();
  // No touch: giving out the grant was a use of the session.
  const found = await findSession(db, hashInGrant(session), sessionLimits, sessionLimits.maxSeconds);
  if (found === undefined) throw invalidSession();
  const role = found.memberships.find(({ brand_id }) => brand_id === brandId)?.role;
  if (brandId === undefined) return { ...person, brand: null };
  if (role === undefined) throw brandNotTheirs();
  return { ...person, brand: { id: brandId, role } };
}

/** Proves the grants of calls of accounts itself. */
export const ownGrants = (deps: Pick<AccountsDependencies, "db" | "grantKeys" | "sessionLimits">): Grants => ({
  prove: (grant, brandId) => prove(deps, grant, { brandId, audience: "accounts" }),
});
