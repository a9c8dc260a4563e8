import { ADDED_PERMISSION_NAMES, ADDED_PERMISSIONS, READ_PERMISSION, type Permission } from "@brand-records/ids";
import { AppError } from "@brand-records/errors";
import type { Brand } from "./brand.ts";

/** A key as its owner sees it. */
export interface Key {
  readonly id: string;
  readonly brand_id: string;
  readonly environment: "live" | "test";
  readonly name: string;
  readonly permissions: readonly Permission[];
  readonly hint: string;
  readonly created_by: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
  readonly revoked_by: string | null;
}

/** A key and its brand, both as of the same moment. */
export interface Principal {
  readonly key_id: string;
  readonly key_name: string;
  readonly permissions: string[];
  readonly brand_id: string;
  readonly brand_name: string;
  readonly tier: string;
  readonly verified: boolean;
  readonly epoch: number;
}

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
