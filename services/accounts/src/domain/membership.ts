import { AppError } from "@brand-records/errors";
import type { Member, Tier } from "./brand.ts";

/** A person's membership, with the brand. */
export interface Membership {
  readonly brand_id: string;
  readonly brand_name: string;
  readonly tier: Tier;
  readonly verified: boolean;
  readonly role: Member["role"];
}

/** @throws AppError `owner_required` unless the acting member is an owner */
export function requireOwner(member: Member | undefined, email: string): void {
  if (member?.role === "owner") return;
  throw new AppError("owner_required", `${email} is not an owner of this brand; only owners change its keys and members`);
}
