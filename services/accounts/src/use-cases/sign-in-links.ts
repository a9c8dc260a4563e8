import { AppError } from "@brand-records/errors";
import type { Database, Sql } from "@brand-records/postgres";
import type { PlannedEntry } from "@brand-records/rpc";
import type { CreateSignInLinkResponse, NewSession } from "@brand-records/proto/accounts/v1";
import type { AccountsDependencies } from "../dependencies.ts";
import { brandNotFound, type Membership, requireOwner } from "../domain/brand.ts";
import { limitedSession, type LinkScope, noMembership, notAMember, ownAddress, requireUsable, type SignInLink } from "../domain/sign-in.ts";
import { newToken, tokenHashOf } from "../domain/session.ts";
import { lockBrand } from "../storage/brands.ts";
import { brandsToldOf, findMember, membershipsOf, openedBrandsOf } from "../storage/members.ts";
import { lockPerson } from "../storage/people.ts";
import { findSignInLink, insertSignInLink, useSignInLink } from "../storage/sign-in-links.ts";
import { notRecorded, recordForBrands } from "./audit.ts";
import { openSession } from "./sessions.ts";

export interface LinkRequest {
  readonly email: string;
  readonly ttlSeconds: number;
  readonly entry: PlannedEntry;
}

/**
 * Creates an operator's one-time link, which opens every brand of the person. Their audit logs are told, in the same transaction.
 *
 * @throws AppError `no_membership`
 */
export function createSignInLink({ db }: Pick<AccountsDependencies, "db">, request: LinkRequest): Promise<CreateSignInLinkResponse> {
  return db.transaction(async (sql) => {
    // A link that is made during the removal of the last membership would outlive it.
    await lockPerson(sql, request.email);
    await requireMemberships(sql, request.email);
    await recordForBrands(sql, await brandsToldOf(sql, request.email), request.entry);
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
): Promise<CreateSignInLinkResponse> {
  if (request.entry.via !== null) throw limitedSession();
  if (request.email === scope.madeBy) throw ownAddress();
  return db.transaction(async (sql) => {
    const { brandId, madeBy } = scope;
    // No one demotes the owner, or removes either person, until the commit.
    if ((await lockBrand(sql, brandId)) === undefined) throw brandNotFound();
    requireOwner(await findMember(sql, brandId, madeBy), madeBy);
    if ((await findMember(sql, brandId, request.email)) === undefined) throw notAMember(request.email);
    await recordForBrands(sql, [{ brand_id: brandId }], request.entry);
    return insertLink(sql, request, scope);
  });
}

async function insertLink(sql: Sql, { email, ttlSeconds }: LinkRequest, scope: LinkScope | null): Promise<CreateSignInLinkResponse> {
  const { token, tokenHash } = newToken();
  return { token, expires_at: await insertSignInLink(sql, { tokenHash, email, ttlSeconds, scope }) };
}

/**
 * Returns whom a link signs in. Uses nothing up.
 *
 * @throws AppError `sign_in_link_unknown`, `sign_in_link_used`, `sign_in_link_expired`, `no_membership`
 */
export function peekSignInLink(deps: Dependencies, token: string, attempt: PlannedEntry): Promise<SignInLink> {
  return withRefusals(deps, token, attempt, () => usableLink(deps.db, token));
}

/**
 * Uses up a link and creates a session. Of several simultaneous calls one succeeds. A brand's audit log tells of it when the session opens it.
 *
 * @throws AppError like peekSignInLink; the link is then not used up
 */
export async function redeemSignInLink(
  deps: Dependencies & Pick<AccountsDependencies, "sessionLimits">,
  token: string,
  attempt: PlannedEntry,
): Promise<NewSession> {
  const redeem = async (): Promise<NewSession> => {
    const { email, scope } = await usableLink(deps.db, token);
    // Cannot be null: the link was found.
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
  };
  const session = await withRefusals(deps, token, attempt, redeem);
  deps.countSignIn("link", "done");
  return session;
}

type Dependencies = Pick<AccountsDependencies, "db" | "countSignIn" | "log">;

async function usableLink(sql: Sql, token: string): Promise<SignInLink> {
  const tokenHash = tokenHashOf(token);
  const link = requireUsable(tokenHash === undefined ? undefined : await findSignInLink(sql, tokenHash));
  await requireMemberships(sql, link.email);
  return link;
}

const signInEntry = (email: string, scope: LinkScope | null, attempt: PlannedEntry): PlannedEntry => ({
  ...attempt,
  subject_id: email,
  actor: email,
  via: scope?.madeBy ?? null,
});

/**
 * Counts each refusal of a link. That of one which is known is written to the audit log, too: it was used or has expired, and somebody
 * else may have it.
 */
async function withRefusals<T>(deps: Dependencies, token: string, attempt: PlannedEntry, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === "internal_error") throw error;
    deps.countSignIn("link", error.kind);
    await recordRefusal(deps.db, token, attempt, error.kind).catch(notRecorded(deps.log, attempt));
    throw error;
  }
}

async function recordRefusal(db: Database, token: string, attempt: PlannedEntry, kind: string): Promise<void> {
  const tokenHash = tokenHashOf(token);
  const link = tokenHash === undefined ? undefined : await findSignInLink(db, tokenHash);
  if (tokenHash === undefined || link === undefined) return;
  const { email, scope } = link;
  const brands = scope === null ? await openedBrandsOf(db, email) : [{ brand_id: scope.brandId }];
  await recordForBrands(db, brands, signInEntry(email, scope, attempt), { kind, key: tokenHash.toString("hex") });
}

/** @throws AppError `no_membership` */
export async function requireMemberships(sql: Sql, email: string): Promise<readonly Membership[]> {
  const memberships = await membershipsOf(sql, email);
  if (memberships.length === 0) throw noMembership();
  return memberships;
}
