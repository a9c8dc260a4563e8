import { generateKey, keyDigest, keyHint } from "@brand-records/api-key";
import type { Transaction } from "@brand-records/postgres";
import { newId } from "@brand-records/typeid";
import type { Parts } from "../parts.ts";
import { insertKey } from "../storage/keys.ts";
import { findMember } from "../storage/members.ts";
import type { Brand } from "./brand.ts";
import { changeBrand } from "./change-brand.ts";
import { keyHash } from "./key-hash.ts";
import { grantedPermissions, requireIntegrationPlan, requireOwner, type Key, type Permission } from "./key.ts";

export interface KeyRequest {
  readonly brandId: string;
  readonly name: string;
  readonly environment: "live" | "test";
  readonly permissions: readonly Permission[];
  /** E-mail address of the acting owner. */
  readonly createdBy: string;
}

/** Makes a key. `secret` is the key itself, to be shown once; only its hash is stored. */
export async function createKey(parts: Parts, request: KeyRequest): Promise<{ key: Key; secret: string }> {
  const permissions = grantedPermissions(request.permissions, request.environment);
  const secret = generateKey(request.environment);
  const [pepper] = parts.peppers;
  const insert = async (sql: Transaction, brand: Brand): Promise<Key> => {
    requireOwner(await findMember(sql, brand.id, request.createdBy), request.createdBy);
    requireIntegrationPlan(brand);
    return insertKey(sql, {
      id: newId("key"),
      brand_id: brand.id,
      environment: request.environment,
      name: request.name,
      permissions,
      hint: keyHint(secret),
      created_by: request.createdBy,
      pepperVersion: pepper.version,
      keyHash: keyHash(keyDigest(secret), pepper),
    });
  };
  const key = await changeBrand(parts, request.brandId, insert, { adds: true });
  return { key, secret };
}
