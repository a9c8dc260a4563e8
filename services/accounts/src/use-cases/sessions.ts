import type { Database, Sql } from "@brand-records/postgres";
import type { AccountsDependencies } from "../dependencies.ts";
import type { Membership } from "../domain/membership.ts";
import { invalidSession, touchSeconds, type Session, type SessionLimits } from "../domain/session.ts";
import type { LinkScope } from "../domain/sign-in.ts";
import { newToken, tokenHashOf } from "../domain/token.ts";
import { lockPerson } from "../storage/people.ts";
import { deleteSession, deleteSessionsOf, deleteSessionsOfBrand, findSession, insertSession, touchSession } from "../storage/sessions.ts";
import { deleteUnusedLinksOf } from "../storage/sign-in-links.ts";

export interface NewSession {
  /** Secret for the person's browser, stored nowhere else. */
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

/**
 * Ends a person's sessions, and deletes the unused links, which would open others: all of them, or those of one brand alone. Returns how
 * many sessions there were.
 */
export function endSessionsOf(db: Database, email: string, brandId: string | null): Promise<number> {
  return db.transaction(async (sql) => {
    // A link that is being redeemed has opened its session by then.
    await lockPerson(sql, email);
    await deleteUnusedLinksOf(sql, email, brandId);
    return brandId === null ? deleteSessionsOf(sql, email) : deleteSessionsOfBrand(sql, email, brandId);
  });
}
