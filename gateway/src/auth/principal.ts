import { AppError } from "@brand-records/errors";

export type Tier = "starter" | "plus" | "pro" | "enterprise";

/** Who is asking: a key and its brand, as they were at one epoch of the brand. */
export interface Principal {
  readonly key_id: string;
  readonly key_name: string;
  readonly permissions: readonly string[];
  readonly brand_id: string;
  readonly tier: Tier;
  readonly verified: boolean;
  readonly epoch: number;
}

/** Whether the brand may use its keys at all. */
export const mayIntegrate = ({ tier, verified }: Principal): boolean => tier !== "starter" && verified;

/** @throws AppError `permission_required` */
export function requirePermission({ permissions }: Principal, permission: string): void {
  if (permissions.includes(permission)) return;
  throw new AppError(
    "permission_required",
    `This key lacks the permission ${permission}. An owner chooses it when creating a live key; ask for such a key.`,
  );
}

/** @throws AppError `plan_required` or `brand_not_verified` */
export function requireIntegratingBrand({ tier, verified }: Principal): void {
  if (tier === "starter") {
    throw new AppError("plan_required", "The brand is on a plan without integrations. Its keys work again once it is on Plus or above.");
  }
  if (!verified) throw new AppError("brand_not_verified", "The brand is not verified. Its keys work again once it is.");
}
