import { AppError } from "@brand-records/errors";
import type * as messages from "@brand-records/proto/accounts/v1";
import type { RowOf } from "@brand-records/proto/rows";

export const TIERS = ["starter", "plus", "pro", "enterprise"] as const;
export type Tier = (typeof TIERS)[number];

export type Brand = RowOf<messages.Brand, { readonly tier: Tier }>;

/** The action of the only entry of the audit log that a deleted brand leaves. */
export const DELETION = "brand.delete";

/**
 * Seconds after which whatever began before a deletion has ended: principals that gateways cached (31), requests (10), calls (15),
 * statements (10) and attempts (15).
 */
export const SETTLED_AFTER_SECONDS = 35;

/** Time after that during which nothing of the brand may be found: less would not notice who writes a record now and then. */
export const QUIET_SECONDS = 5;

export type Member = RowOf<messages.Member, { readonly role: "owner" | "member" }>;

export const brandDeleted = (): AppError =>
  new AppError("not_found", "The brand was deleted. Its id is not used again.", { field: "brand_id" });

export const brandNotFound = (): AppError => new AppError("not_found", "There is no brand with this id", { field: "brand_id" });

/** A person's membership, with the brand. */
export type Membership = RowOf<messages.Membership, Pick<Brand, "tier"> & Pick<Member, "role">>;

/** One error for a brand of others and an unknown one, so that it reveals nothing. */
export const brandNotTheirs = (): AppError =>
  new AppError("not_found", "You are not a member of this brand, or it does not exist.", { field: "brand_id" });

/** @throws AppError `owner_required` unless the acting member is an owner */
export function requireOwner(member: Member | undefined, email: string): void {
  if (member?.role === "owner") return;
  throw new AppError("owner_required", `${email} is not an owner of this brand; only owners change its keys and members`);
}
