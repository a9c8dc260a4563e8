import type { AccountsDependencies } from "../dependencies.ts";
import { identityConflict, verifiedEmail, type EmailClaims, type Identity } from "../domain/sign-in.ts";
import { bindIdentity, findBoundEmail } from "../storage/identities.ts";
import { lockPerson } from "../storage/people.ts";
import { openSession, type NewSession } from "./sessions.ts";
import { requireMemberships } from "./sign-in-links.ts";

export interface IdentitySignIn extends Identity, EmailClaims {}

/**
 * Creates a session for the person behind an identity. Binds an unbound identity to the person with its verified address: from then
 * on the identity counts, whatever address the provider sends.
 *
 * @param normalizeEmail returns the address as members have it; undefined for what cannot be a member's
 * @throws AppError `email_not_verified`, `no_membership`, `identity_conflict`
 */
export async function signInWithIdentity(
  { db, sessionLimits }: Pick<AccountsDependencies, "db" | "sessionLimits">,
  signIn: IdentitySignIn,
  normalizeEmail: (email: string) => string | undefined,
): Promise<NewSession> {
  const boundEmail = await findBoundEmail(db, signIn);
  const email = boundEmail ?? normalizeEmail(verifiedEmail(signIn)) ?? "";
  const session = await db.transaction(async (sql) => {
    await lockPerson(sql, email);
    await requireMemberships(sql, email);
    if (boundEmail === undefined) await bindIdentity(sql, signIn, email);
    // Read again: another identity may be bound to the person, or this identity to another person since the look-up.
    return (await findBoundEmail(sql, signIn)) === email
      ? openSession(sql, { email, issuer: signIn.issuer, scope: null }, sessionLimits)
      : undefined;
  });
  if (session === undefined) throw identityConflict();
  return session;
}
