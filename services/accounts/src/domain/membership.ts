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

/** One error for a brand of others and an unknown one, so that it reveals nothing. */
export const brandNotTheirs = (): AppError =>
  new AppError("not_found", "You are not a member of this brand, or it does not exist.", { field: "brand_id" });

export const memberLimit = (max: number): AppError =>
  new AppError("member_limit", `A brand has at most ${max} members. Remove one who no longer works on it.`);

/** @throws AppError `owner_required` unless the acting member is an owner */
export function requireOwner(member: Member | undefined, email: string): void {
  if (member?.role === "owner") return;
  throw new AppError("owner_required", `${email} is not an owner of this brand; only owners change its keys and members`);
}
