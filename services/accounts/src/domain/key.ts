import { AppError } from "@brand-records/errors";
import { mayIntegrate, type Brand, type Member } from "./brand.ts";

export type Permission = "records:read" | "campaigns:prepare";

/** A key as its owner may see it. */
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

/** A key and its brand as they were at one moment. */
export interface Principal {
  readonly key_id: string;
  readonly key_name: string;
  readonly permissions: string[];
  readonly brand_id: string;
  readonly tier: string;
  readonly verified: boolean;
  readonly epoch: number;
}

/** Every key reads; preparing plans is what an owner opts into, on a live key. */
export function grantedPermissions(asked: readonly Permission[], environment: "live" | "test"): Permission[] {
  const prepares = asked.includes("campaigns:prepare");
  if (prepares && environment !== "live") {
    throw new AppError("invalid_request", "campaigns:prepare is for live keys only", { field: "permissions" });
  }
  return prepares ? ["records:read", "campaigns:prepare"] : ["records:read"];
}

/** @throws AppError unless the acting member is an owner */
export function requireOwner(member: Member | undefined, email: string): void {
  if (member?.role === "owner") return;
  throw new AppError("owner_required", `${email} is not an owner of this brand; keys are made and revoked by owners`);
}

/** @throws AppError unless the brand may have keys */
export function requireIntegrationPlan(brand: Brand): void {
  if (!mayIntegrate(brand.tier)) throw new AppError("plan_required", "API keys need the Plus plan or above");
  if (!brand.verified) throw new AppError("brand_not_verified", "API keys need a verified brand");
}
