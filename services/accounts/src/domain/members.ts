import { AppError } from "@brand-records/errors";
import type { Sql } from "@brand-records/postgres";
import type { Parts } from "../parts.ts";
import { lockBrand } from "../storage/brands.ts";
import { deleteMember, hasOwner, upsertMember } from "../storage/members.ts";
import type { Member } from "./brand.ts";
import { noSuchBrand } from "./change-brand.ts";

/** Adds a member, or changes the role of the one with this address. */
export function addMember(parts: Parts, member: Pick<Member, "brand_id" | "email" | "role">): Promise<Member> {
  return keepingAnOwner(parts, member.brand_id, async (sql) => {
    const added = await upsertMember(sql, member);
    if (added === undefined) throw new Error("upsert returned no row");
    return added;
  });
}

export function removeMember(parts: Parts, brandId: string, email: string): Promise<void> {
  return keepingAnOwner(parts, brandId, async (sql) => {
    if (!(await deleteMember(sql, brandId, email))) throw new AppError("not_found", "There is no such member", { field: "email" });
  });
}

/** The brand's row is locked, so two owners who remove each other at once cannot both succeed. */
function keepingAnOwner<T>({ db }: Parts, brandId: string, change: (sql: Sql) => Promise<T>): Promise<T> {
  return db.transaction(async (sql) => {
    if ((await lockBrand(sql, brandId)) === undefined) throw noSuchBrand();
    const owned = await hasOwner(sql, brandId);
    const result = await change(sql);
    if (owned && !(await hasOwner(sql, brandId))) {
      throw new AppError("last_owner", "This would leave the brand without an owner; make somebody else an owner first");
    }
    return result;
  });
}
