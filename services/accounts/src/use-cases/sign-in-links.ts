import type { Sql } from "@brand-records/postgres";
import type { AccountsDependencies } from "../dependencies.ts";
import { brandNotFound } from "../domain/brand.ts";
import { requireOwner, type Membership } from "../domain/membership.ts";
import { limitedSession, noMembership, notAMember, ownAddress, requireUsable, type LinkScope, type SignInLink } from "../domain/sign-in.ts";
import { newToken, tokenHashOf } from "../domain/token.ts";
import { lockBrand } from "../storage/brands.ts";
import { findMember, membershipsOf } from "../storage/members.ts";
import { lockPerson } from "../storage/people.ts";
import { findSignInLink, insertSignInLink, useSignInLink } from "../storage/sign-in-links.ts";
import { recordForBrands } from "./audit.ts";
import { openSession, type NewSession } from "./sessions.ts";

export interface NewSignInLink {
  readonly token: string;
  readonly expires_at: string;
}

export interface LinkRequest {
  readonly email: string;
  readonly ttlSeconds: number;
  readonly requestId: string;
}

/** The session in which an owner acts. */
export interface ActingSession {
  /** IP address. */
  readonly address: string | null;
  /** The owner whose link opened the session. */
  readonly via: string | null;
}

/**
 * Creates an operator's one-time link. It opens every brand of the person, so each brand's audit log gets an entry, in the same
 * transaction.
 *
 * @throws AppError `no_membership`
 */
export function createSignInLink({ db }: Pick<AccountsDependencies, "db">, request: LinkRequest): Promise<NewSignInLink> {
  return db.transaction(async (sql) => {
    await recordForBrands(sql, await requireMemberships(sql, request.email), linkEntry(request, null, null));
    return insertLink(sql, request, null);
  });
}

/**
 * Creates an owner's one-time link for a member of the owner's brand, which it opens alone: it gives the owner nothing of the person's
 * other brands. It works while both remain, and the owner an owner. The brand's audit log gets an entry, in the same transaction.
 *
 * @throws AppError `limited_session`; `invalid_request` for the owner's own address; `not_found`, `owner_required`, `no_membership`
 */
export async function createOwnersLink(
  { db }: Pick<AccountsDependencies, "db">,
  request: LinkRequest,
  scope: LinkScope,
  { address, via }: ActingSession,
): Promise<NewSignInLink> {
  if (via !== null) throw limitedSession();
  if (request.email === scope.madeBy) throw ownAddress();
  return db.transaction(async (sql) => {
    const { brandId, madeBy } = scope;
    // No one demotes the owner, or removes either person, until the commit.
    if ((await lockBrand(sql, brandId)) === undefined) throw brandNotFound();
    requireOwner(await findMember(sql, brandId, madeBy), madeBy);
    if ((await findMember(sql, brandId, request.email)) === undefined) throw notAMember(request.email);
    await recordForBrands(sql, [{ brand_id: brandId }], linkEntry(request, madeBy, address));
    return insertLink(sql, request, scope);
  });
}

const linkEntry = ({ email, requestId }: LinkRequest, actor: string | null, address: string | null) =>
  ({ action: "sign_in_link.create", subject: email, requestId, actor, address }) as const;

async function insertLink(sql: Sql, { email, ttlSeconds }: LinkRequest, scope: LinkScope | null): Promise<NewSignInLink> {
  const { token, tokenHash } = newToken();
  return { token, expires_at: await insertSignInLink(sql, { tokenHash, email, ttlSeconds, scope }) };
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
  const { email, scope } = await peekSignInLink(deps, token);
  // Cannot be null: peeking has found the link.
  const tokenHash = tokenHashOf(token) as Buffer;
  return deps.db.transaction(async (sql) => {
    // Changes of the brand's members take the same locks, in this order.
    if (scope !== null) await lockBrand(sql, scope.brandId);
    await lockPerson(sql, email);
    await requireMemberships(sql, email);
    if (!(await useSignInLink(sql, tokenHash))) {
      requireUsable(await findSignInLink(sql, tokenHash));
      throw new Error("a usable link was not used up");
    }
    return openSession(sql, { email, issuer: null, scope }, deps.sessionLimits);
  });
}

/** @throws AppError `no_membership` */
export async function requireMemberships(sql: Sql, email: string): Promise<readonly Membership[]> {
  const memberships = await membershipsOf(sql, email);
  if (memberships.length === 0) throw noMembership();
  return memberships;
}
