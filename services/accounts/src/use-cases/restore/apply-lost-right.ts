import type { Database, Transaction } from "@brand-records/postgres";
import type { LostRight } from "../../domain/lost-rights.ts";
import { findKey, markKeyRevoked } from "../../storage/keys.ts";
import { deleteIdentitiesOf } from "../../storage/identities.ts";
import { brandsToldOf, deleteMember, findMember, hasOwner, membershipsOf, upsertMember } from "../../storage/members.ts";
import { lockPerson } from "../../storage/people.ts";
import { findBrandDeletion } from "../../storage/brand-deletions.ts";
import { findBrand, lockBrand } from "../../storage/brands.ts";
import { recordForBrands } from "../audit.ts";
import { deleteRightsOfBrand } from "../delete-brand.ts";

/** Marks the entries that are written here: they are no news when the program is repeated. */
export const REQUEST_ID = "after-restore";
const OPERATOR = "operator";

export interface Applied {
  /** Whether the restored database had the right. */
  readonly isChanged: boolean;
  /** The brand has no owner any more: those who were added since the backup are lost. */
  readonly isWithoutOwner: boolean;
}

/**
 * Takes a right away that the restored database has, and writes the operator's entry into the audit log of the brand, in one transaction.
 * Can be repeated. Takes it from the last owner, too: that one was an owner no more.
 */
export function applyLostRight(db: Database, lost: LostRight): Promise<Applied> {
  return db.transaction(async (sql) => {
    const isChanged = await take(sql, lost);
    const isOfMembers = lost.right === "membership" || lost.right === "ownership";
    return { isChanged, isWithoutOwner: isChanged && isOfMembers && !(await hasOwner(sql, lost.brandId)) };
  });
}

function take(sql: Transaction, lost: LostRight): Promise<boolean> {
  switch (lost.right) {
    case "key":
      return revoke(sql, lost.brandId, lost.keyId);
    case "membership":
      return remove(sql, lost.brandId, lost.email);
    case "ownership":
      return demote(sql, lost.brandId, lost.email);
    case "identities":
      return unlink(sql, lost.email);
    case "brand":
      return beginDeletion(sql, lost.brandId);
  }
}

async function revoke(sql: Transaction, brandId: string, keyId: string): Promise<boolean> {
  if ((await findKey(sql, keyId))?.brand_id !== brandId) return false;
  if ((await markKeyRevoked(sql, keyId, OPERATOR)) === undefined) return false;
  await record(sql, [{ brand_id: brandId }], "key.revoke", keyId);
  return true;
}

/** Links that the member made, and what they opened, go with the membership. */
async function remove(sql: Transaction, brandId: string, email: string): Promise<boolean> {
  await lockBrand(sql, brandId);
  await lockPerson(sql, email);
  if (!(await deleteMember(sql, brandId, email))) return false;
  if ((await membershipsOf(sql, email)).length === 0) await deleteIdentitiesOf(sql, email);
  await record(sql, [{ brand_id: brandId }], "member.remove", email);
  return true;
}

/** The sessions that links of an owner opened have ended already, with all others. */
async function demote(sql: Transaction, brandId: string, email: string): Promise<boolean> {
  await lockBrand(sql, brandId);
  if ((await findMember(sql, brandId, email))?.role !== "owner") return false;
  await upsertMember(sql, { brand_id: brandId, email, role: "member" });
  await record(sql, [{ brand_id: brandId }], "member.set_role", email);
  return true;
}

async function unlink(sql: Transaction, email: string): Promise<boolean> {
  await lockPerson(sql, email);
  if ((await deleteIdentitiesOf(sql, email)) === 0) return false;
  await record(sql, await brandsToldOf(sql, email), "identity.unlink", email);
  return true;
}

/** The operator repeats the deletion, which then finds that it has begun. */
async function beginDeletion(sql: Transaction, brandId: string): Promise<boolean> {
  if ((await findBrand(sql, brandId)) === undefined || (await findBrandDeletion(sql, brandId)) !== undefined) return false;
  await lockBrand(sql, brandId);
  await deleteRightsOfBrand(sql, brandId, REQUEST_ID);
  return true;
}

const record = (sql: Transaction, brands: readonly { brand_id: string }[], action: string, subject: string): Promise<void> =>
  recordForBrands(sql, brands, {
    action,
    subject_id: subject,
    request_id: REQUEST_ID,
    brand_id: undefined,
    actor: null,
    via: null,
    fields: [],
    role: null,
    address: null,
    browser: null,
  });
