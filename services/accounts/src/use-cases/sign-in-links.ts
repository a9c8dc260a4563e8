import type { Sql } from "@brand-records/postgres";
import type { AccountsDependencies } from "../dependencies.ts";
import type { Membership } from "../domain/membership.ts";
import { noMembership, requireUsable, type SignInLink } from "../domain/sign-in.ts";
import { newToken, tokenHashOf } from "../domain/token.ts";
import { membershipsOf } from "../storage/members.ts";
import { lockPerson } from "../storage/people.ts";
import { findSignInLink, insertSignInLink, useSignInLink } from "../storage/sign-in-links.ts";
import { recordForBrands } from "./audit.ts";
import { openSession, type NewSession } from "./sessions.ts";

export interface NewSignInLink {
  readonly token: string;
  readonly expires_at: string;
}

/**
 * Creates a one-time link, which only operators do. It opens every brand of the person, so each brand's audit log gets an entry, in the
 * same transaction.
 *
 * @throws AppError `no_membership`
 */
export function createSignInLink(
  { db }: Pick<AccountsDependencies, "db">,
  { email, ttlSeconds }: { readonly email: string; readonly ttlSeconds: number },
  requestId: string,
): Promise<NewSignInLink> {
  return db.transaction(async (sql) => {
    const { token, tokenHash } = newToken();
    await recordForBrands(sql, await requireMemberships(sql, email), { action: "sign_in_link.create", email, requestId });
    return { token, expires_at: await insertSignInLink(sql, { tokenHash, email, ttlSeconds }) };
  });
}

/**
 * Returns whom a link signs in. Uses nothing up.
 *
 * @throws AppError `sign_in_link_unknown`, `sign_in_link_used`, `sign_in_link_expired`, `no_membership`
 */
export async function peekSignInLink({ db }: Pick<AccountsDependencies, "db">, token: string): Promise<SignInLink> {
  const tokenHash = tokenHashOf(token);
  const link = requireUsable(tokenHash === undefined ? undefined : await findSignInLink(db, tokenHash));
  await requireMemberships(db, link.email);
  return link;
}

/**
 * Uses up a link and creates a session. Of several simultaneous calls one succeeds.
 *
 * @throws AppError like peekSignInLink; the link is then not used up
 */
export async function redeemSignInLink(deps: Pick<AccountsDependencies, "db" | "sessionLimits">, token: string): Promise<NewSession> {
  const { email } = await peekSignInLink(deps, token);
  // Not null: peeking has found the link.
  const tokenHash = tokenHashOf(token) as Buffer;
  return deps.db.transaction(async (sql) => {
    await lockPerson(sql, email);
    await requireMemberships(sql, email);
    if (!(await useSignInLink(sql, tokenHash))) {
      requireUsable(await findSignInLink(sql, tokenHash));
      throw new Error("a usable link was not used up");
    }
    return openSession(sql, email, null, deps.sessionLimits);
  });
}

/** @throws AppError `no_membership` */
export async function requireMemberships(sql: Sql, email: string): Promise<readonly Membership[]> {
  const memberships = await membershipsOf(sql, email);
  if (memberships.length === 0) throw noMembership();
  return memberships;
}
