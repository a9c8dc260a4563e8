import { AppError, type ErrorKind } from "@brand-records/errors";
import type { CallContext } from "@brand-records/rpc";

export type Tier = "starter" | "plus" | "pro" | "enterprise";

/** The caller: a key and its brand, as they were at one epoch of the brand. */
export interface Principal {
  readonly key_id: string;
  readonly key_name: string;
  readonly permissions: readonly string[];
  readonly brand_id: string;
  readonly brand_name: string;
  readonly tier: Tier;
  readonly verified: boolean;
  readonly epoch: number;
  /** The cell that has the brand's records. Null or absent: the only one, or the one without a name. */
  readonly cell?: string | null | undefined;
  /** Returns the principal of the same key that accounts reads after the call. @throws AppError like `Verifier.verify` */
  verifyAgain?(context: CallContext): Promise<Principal>;
}

/** @throws AppError `permission_required` */
export function requirePermission({ permissions }: Principal, permission: string): void {
  if (permissions.includes(permission)) return;
  throw new AppError(
    "permission_required",
    `This key lacks the permission ${permission}. An owner chooses it when creating a key; ask for such a key.`,
  );
}

/** Whether the brand may use its keys. */
export const isIntegratingBrand = (principal: Principal): boolean => brandRefusal(principal) === undefined;

/** @throws AppError `plan_required` or `brand_not_verified` */
export function requireIntegratingBrand(principal: Principal): void {
  const refusal = brandRefusal(principal);
  if (refusal !== undefined) throw new AppError(...refusal);
}

function brandRefusal({ tier, verified }: Principal): [ErrorKind, string] | undefined {
  if (tier === "starter") {
    return ["plan_required", "The brand is on a plan without integrations. Its keys work again once it is on Plus or above."];
  }
  return verified ? undefined : ["brand_not_verified", "The brand is not verified. Its keys work again once it is."];
}
