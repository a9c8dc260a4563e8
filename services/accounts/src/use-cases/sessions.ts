import type { Database, Sql } from "@brand-records/postgres";
import type { PlannedEntry } from "@brand-records/rpc";
import type { NewSession } from "@brand-records/proto/accounts/v1";
import type { AccountsDependencies } from "../dependencies.ts";
import type { Membership } from "../domain/brand.ts";
import { invalidSession, newToken, type Session, type SessionLimits, tokenHashOf, touchSeconds } from "../domain/session.ts";
import type { LinkScope } from "../domain/sign-in.ts";
import { shareBrands } from "../storage/brands.ts";
import { lockPerson } from "../storage/people.ts";
import { deleteSession, deleteSessionsOf, findSession, insertSession, noteOpened, touchSession } from "../storage/sessions.ts";
import { deleteUnusedLinksOf } from "../storage/sign-in-links.ts";
import { recordForBrands } from "./audit.ts";

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
  opening?: Opening,
): Promise<{ session: Session; memberships: readonly Membership[] }> {
  const tokenHash = tokenHashOf(token);
  if (tokenHash === undefined) throw invalidSession();
  const touchAfter = touchSeconds(sessionLimits);
  const found = await findSession(db, tokenHash, sessionLimits, touchAfter);
  if (found === undefined) throw invalidSession();
  if (found.isTouchDue) await touchSession(db, tokenHash, sessionLimits, touchAfter);
  const isNew = opening !== undefined && !found.opened.has(opening.brandId);
  if (isNew && found.memberships.some(({ brand_id }) => brand_id === opening.brandId))
    await openBrand(db, tokenHash, found.session, opening);
  return found;
}

/** A brand that a session opens, in which call, and from where. */
export interface Opening {
  readonly brandId: string;
  readonly requestId: string;
  readonly client: Pick<PlannedEntry, "address" | "browser">;
}

/**
 * Notes that a session opens a brand. At the first time, the brand's audit log gets the entry about the sign-in, in the same transaction:
 * whoever adds a stranger's address learns nothing of that person until then.
 */
async function openBrand(
  db: Database,
  tokenHash: Buffer,
  { email, issuer, made_by }: Session,
  { brandId, requestId, client }: Opening,
): Promise<void> {
  await db.transaction(async (sql) => {
    // In the order of a change of members, which ends sessions last.
    await shareBrands(sql, [brandId]);
    await lockPerson(sql, email);
    if (!(await noteOpened(sql, tokenHash, brandId, email))) return;
    const action = issuer === null ? "session.sign_in_with_link" : "session.sign_in_with_provider";
    const of = { brand_id: brandId, actor: email, via: made_by, subject_id: email, fields: [], role: null, request_id: requestId };
    await recordForBrands(sql, [{ brand_id: brandId }], { action, ...of, ...client });
  });
}

const brandsOf = (ids: Iterable<string>): { readonly brand_id: string }[] => [...ids].map((brand_id) => ({ brand_id }));

/** Ends a session, if there is one. The audit log of each brand that it opened gets an entry, in the same transaction. */
export async function endSession(db: Database, token: string, entry: PlannedEntry): Promise<void> {
  const tokenHash = tokenHashOf(token);
  if (tokenHash === undefined) return;
  await db.transaction(async (sql) => {
    const ended = await deleteSession(sql, tokenHash);
    if (ended === undefined) return;
    const { email, opened, made_by } = ended;
    await recordForBrands(sql, brandsOf(opened), { ...entry, subject_id: email, actor: email, via: made_by });
  });
}

export interface EndedSessions {
  readonly email: string;
  /** Those of this brand alone; null: all. */
  readonly brandId: string | null;
}

/**
 * Ends a person's sessions, and deletes the unused links, which would open others: all of them, or those of one brand alone. Returns how
 * many sessions there were. The audit log of each brand concerned gets an entry, in the same transaction.
 */
export function endSessionsOf(db: Database, { email, brandId }: EndedSessions, entry: PlannedEntry): Promise<number> {
  return db.transaction(async (sql) => {
    // A link that is being redeemed has opened its session by then.
    await lockPerson(sql, email);
    await deleteUnusedLinksOf(sql, email, brandId);
    const ended = await deleteSessionsOf(sql, email, brandId);
    await recordForBrands(sql, brandsOf(new Set(ended.flatMap(({ opened }) => opened))), entry);
    return ended.length;
  });
}
