import { AppError } from "@brand-records/errors";
import type { Parts } from "../parts.ts";
import { findKey, revokeKey as revoke } from "../storage/keys.ts";
import { findMember } from "../storage/members.ts";
import { changeBrand } from "./change-brand.ts";
import { requireOwner, type Key } from "./key.ts";

/** Revokes for good. A key that is revoked already is answered as it is. */
export async function revokeKey(parts: Parts, keyId: string, revokedBy: string): Promise<Key> {
  const key = await findKey(parts.db, keyId);
  if (key === undefined) throw new AppError("not_found", "There is no key of this id", { field: "key_id" });
  return changeBrand(parts, key.brand_id, async (sql, brand) => {
    requireOwner(await findMember(sql, brand.id, revokedBy), revokedBy);
    return (await revoke(sql, keyId, revokedBy)) ?? (await findKey(sql, keyId)) ?? key;
  });
}
