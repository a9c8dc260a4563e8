import { AppError } from "@brand-records/errors";
import { generateKey, keyDigest, keyHint, newId } from "@brand-records/ids";
import type { Sql } from "@brand-records/postgres";
import type { CreateKeyRequest, CreateKeyResponse, Principal, RevokeKeyRequest } from "@brand-records/proto/accounts/v1";
import type { RowOf } from "@brand-records/proto/rows";
import type { RecordChange } from "@brand-records/service-runtime";
import type { AccountsDependencies } from "../dependencies.ts";
import { requireOwner } from "../domain/brand.ts";
import { grantedPermissions, type Key, keyHash, keyLimit, keyNotFound, requireApiAccess } from "../domain/key.ts";
import { LIST_PAGE_MAX, pageOf, type PageRequest, positionIn, type TokenPage } from "../domain/page-token.ts";
import { CACHES_EXPIRE_AFTER_SECONDS } from "../epochs/epoch-publisher.ts";
import {
  countActiveKeys,
  findKey,
  findPrincipal,
  insertKey,
  keysWithIds,
  keysWithName,
  markKeyRevoked,
  pageOfKeys,
} from "../storage/keys.ts";
import { findMember } from "../storage/members.ts";
import { type BrandChange, changeBrand, requireBrand } from "./brands.ts";
import { newestSharedPepper } from "./peppers.ts";

type KeyRequest = RowOf<CreateKeyRequest, Pick<Key, "environment" | "permissions">>;

/**
 * Creates a key. Of the secret only the hash is stored. `same_name` is exact: keys of a brand are created one after another.
 *
 * @throws AppError `invalid_request`, `not_found`, `owner_required`, `plan_required`, `brand_not_verified`, `key_limit`, `unavailable`
 */
export async function createKey(deps: AccountsDependencies, request: KeyRequest, record: RecordChange): Promise<CreateKeyResponse> {
  const { brand_id, name, environment, created_by } = request;
  const permissions = grantedPermissions(request.permissions, environment);
  const secret = generateKey(environment);
  const { result: created } = await changeBrand(deps, brand_id, async (sql, brand) => {
    requireOwner(await findMember(sql, brand_id, created_by), created_by);
    requireApiAccess(brand);
    // The brand's row is locked: of simultaneous calls none counts without the others' keys.
    if ((await countActiveKeys(sql, brand_id)) >= deps.limits.keys) throw keyLimit(deps.limits.keys);
    const pepper = await newestSharedPepper(sql, deps.peppers);
    const same_name = await keysWithName(sql, { brand_id, environment, name });
    const key = await insertKey(sql, {
      id: newId("key"),
      brand_id,
      environment,
      name,
      permissions,
      hint: keyHint(secret),
      created_by,
      pepperVersion: pepper.version,
      keyHash: keyHash(keyDigest(secret), pepper),
    });
    await record(sql, { subject: key.id });
    return { key, same_name };
  });
  return { ...created, secret };
}

/**
 * Finds the principal behind a key and records the key's use.
 *
 * @throws AppError `unavailable` if another process may know the key
 * @throws AppError `invalid_key`, the same for unknown, revoked and other-environment keys, so that it reveals nothing
 */
export async function verifyKey(deps: AccountsDependencies, digest: Uint8Array): Promise<Principal> {
  const hashes = deps.peppers.map((pepper) => keyHash(digest, pepper));
  const principal = await findPrincipal(deps.db, hashes, deps.environment);
  // Reads the clock after the query: a process that was frozen before or during it does not take a good key for a bad one.
  if (principal === undefined && deps.mayMissKeys()) {
    throw new AppError("unavailable", "This process may lack the pepper of the key: another one may know it");
  }
  if (principal === undefined) throw new AppError("invalid_key", "This key is not valid here");
  deps.recordKeyUse(principal.key_id);
  return principal;
}

/** The last key of a page: whether it is not revoked, when it was created, its id. */
const POSITION = /^(true|false) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (key_[0-9a-z]{1,40})$/;

/**
 * Returns a page of the brand's keys: first those that are not revoked, the newest of each first. With `ids`, only those, in one page.
 *
 * @throws AppError `not_found` if there is no such brand; `invalid_cursor`
 */
export async function keysOf(
  db: Sql,
  brandId: string,
  { page_size, page_token }: PageRequest,
  ids: readonly string[] = [],
): Promise<TokenPage<Key>> {
  await requireBrand(db, brandId);
  if (ids.length > 0) return { rows: await keysWithIds(db, brandId, ids), nextPageToken: null };
  const scope = ["keys", brandId];
  const found = await pageOfKeys(db, brandId, positionIn(scope, page_token, POSITION), page_size + 1);
  return pageOf(found, page_size, scope, ({ revoked_at, created_at, id }) => [revoked_at === null, created_at, id]);
}

/** Returns the first `beside` of the brand's keys, and the others that a page's records name: at most 200. */
export async function keysNamed(sql: Sql, brandId: string, ids: readonly (string | null | undefined)[], beside = 0): Promise<Key[]> {
  const first = beside === 0 ? [] : await pageOfKeys(sql, brandId, [], beside);
  const known = new Set(first.map(({ id }) => id));
  const others = new Set(ids.flatMap((id) => (id?.startsWith("key_") === true && !known.has(id) ? [id] : [])));
  return others.size === 0 ? first : [...first, ...(await keysWithIds(sql, brandId, [...others].slice(0, LIST_PAGE_MAX)))];
}

/**
 * Returns the brand of a key, by the key's id alone.
 *
 * @throws AppError `not_found`
 */
export async function findBrandOfKey(db: Sql, keyId: string): Promise<string> {
  const key = await findKey(db, keyId);
  if (key === undefined) throw keyNotFound("id");
  return key.brand_id;
}

/** A repeat this much later has nothing to say about caches: they expire 31 s after the commit, and a transaction takes less than as long. */
const FORGOTTEN_AFTER_MS = 2_000 * CACHES_EXPIRE_AFTER_SECONDS;

/**
 * Revokes a key permanently. Returns a key that is already revoked unchanged. The key must be of the brand, if one is given.
 *
 * @throws AppError `not_found`, `owner_required`
 */
export async function revokeKey(
  deps: AccountsDependencies,
  { key_id, brand_id, revoked_by }: RevokeKeyRequest,
  record: RecordChange,
): Promise<BrandChange<Key>> {
  const key = await findKey(deps.db, key_id);
  if (key === undefined || (brand_id != null && key.brand_id !== brand_id)) throw keyNotFound("key_id");
  const change = await changeBrand(deps, key.brand_id, async (sql, brand) => {
    requireOwner(await findMember(sql, brand.id, revoked_by), revoked_by);
    const revoked = await markKeyRevoked(sql, key_id, revoked_by);
    if (revoked === undefined) return (await findKey(sql, key_id)) ?? key;
    await record(sql, { brandId: key.brand_id });
    return revoked;
  });
  const { result: revoked, may_be_accepted_until: until = "" } = change;
  const isForgotten = Date.parse(until) - Date.parse(revoked.revoked_at ?? "") > FORGOTTEN_AFTER_MS;
  return isForgotten ? { result: revoked } : change;
}
