import type { Sql } from "@brand-records/postgres";
import type { AccountsDependencies } from "../dependencies.ts";
import type { Membership } from "../domain/membership.ts";
import { invalidSession, touchSeconds, type Session, type SessionLimits } from "../domain/session.ts";
import type { LinkScope } from "../domain/sign-in.ts";
import { newToken, tokenHashOf } from "../domain/token.ts";
import { deleteSession, findSession, insertSession, touchSession } from "../storage/sessions.ts";

export interface NewSession {
  /** To be given to the person's browser, and stored nowhere else. */
  readonly token: string;
  readonly email: string;
  readonly ends_at: string;
}

/** What a session begins with: `issuer` is null after a sign-in link, `scope` for every brand of the person. */
export type SessionStart = Pick<Session, "email" | "issuer"> & { readonly scope: LinkScope | null };

/** Creates a session. The caller has made sure who the person is. */
export async function openSession(sql: Sql, start: SessionStart, limits: SessionLimits): Promise<NewSession> {
  const { token, tokenHash } = newToken();
  return { token, email: start.email, ends_at: await insertSession(sql, { tokenHash, ...start }, limits) };
}

/**
 * Returns a session and the memberships that it opens at this moment, and records the use.
 *
 * @throws AppError `invalid_session`
 */
export async function getSession(
  { db, sessionLimits }: Pick<AccountsDependencies, "db" | "sessionLimits">,
  token: string,
): Promise<{ session: Session; memberships: readonly Membership[] }> {
  const tokenHash = tokenHashOf(token);
  if (tokenHash === undefined) throw invalidSession();
  const touchAfter = touchSeconds(sessionLimits);
  const found = await findSession(db, tokenHash, sessionLimits, touchAfter);
  if (found === undefined) throw invalidSession();
  if (found.isTouchDue) await touchSession(db, tokenHash, sessionLimits, touchAfter);
  return found;
}

/** Ends a session, if there is one. */
export async function endSession(sql: Sql, token: string): Promise<void> {
  const tokenHash = tokenHashOf(token);
  if (tokenHash !== undefined) await deleteSession(sql, tokenHash);
}
