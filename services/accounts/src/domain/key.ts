import { createHmac } from "node:crypto";
import { AppError } from "@brand-records/errors";
import { ADDED_PERMISSION_NAMES, ADDED_PERMISSIONS, type Permission, READ_PERMISSION } from "@brand-records/ids";
import type { Key as Message } from "@brand-records/proto/accounts/v1";
import type { RowOf } from "@brand-records/proto/rows";
import type { z } from "zod";
import type { Brand } from "./brand.ts";

/** A key as its owner sees it. */
export type Key = RowOf<Message, { readonly environment: "live" | "test"; readonly permissions: Permission[] }>;

/** @param field the request's field that holds the id */
export const keyNotFound = (field: string): AppError => new AppError("not_found", "There is no key with this id", { field });

/**
 * Returns the permissions of a new key: records:read always, the others if requested.
 *
 * @throws AppError `invalid_request` if a permission for live keys is requested for a test key
 */
export function grantedPermissions(requested: readonly Permission[], environment: "live" | "test"): Permission[] {
  const added = ADDED_PERMISSION_NAMES.filter((permission) => requested.includes(permission));
  const refused = added.find((permission) => environment === "test" && ADDED_PERMISSIONS[permission].liveOnly);
  if (refused === undefined) return [READ_PERMISSION, ...added];
  throw new AppError("invalid_request", `${refused} is for live keys only`, { field: "permissions" });
}

export const keyLimit = (max: number): AppError =>
  new AppError("key_limit", `A brand has at most ${max} keys that are not revoked. Revoke one that is no longer needed.`);

/** @throws AppError `plan_required` below Plus; `brand_not_verified` */
export function requireApiAccess({ tier, verified }: Brand): void {
  if (tier === "starter") throw new AppError("plan_required", "API keys need the Plus plan or above");
  if (!verified) throw new AppError("brand_not_verified", "API keys need a verified brand");
}

/** Secret mixed into the hash of every key, so that a stolen table alone verifies no key. */
export interface Pepper {
  readonly version: number;
  readonly bytes: Buffer;
}

/** Parses comma-separated `version:base64` pairs. Returns the newest first; problems go to zod's context. */
export function parsePeppers(text: string, context: z.core.$RefinementCtx): readonly [Pepper, ...Pepper[]] {
  const peppers = text.split(",").map((pair) => {
    const [, version, base64] = /^(\d{1,9}):([A-Za-z0-9+/]+={0,2})$/.exec(pair.trim()) ?? [];
    return { version: Number(version), bytes: Buffer.from(base64 ?? "", "base64") };
  });
  const [newest, ...older] = peppers.toSorted((a, b) => b.version - a.version);
  const versions = new Set(peppers.map((pepper) => pepper.version));
  if (newest === undefined || versions.size < peppers.length || peppers.some(({ bytes }) => bytes.length < 32)) {
    context.addIssue({
      code: "custom",
      message: "must be version:base64 pairs of at least 32 bytes, comma-separated, each version once",
    });
    return [{ version: 0, bytes: Buffer.alloc(0) }];
  }
  return [newest, ...older];
}

/**
 * Returns the 32 bytes under which a key is stored and looked up.
 *
 * @param keyDigest SHA-256 of the key
 */
export function keyHash(keyDigest: Uint8Array, pepper: Pepper): Buffer {
  return createHmac("sha256", pepper.bytes).update(keyDigest).digest();
}
