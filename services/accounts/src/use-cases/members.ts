import { AppError } from "@brand-records/errors";
import type { Database, Sql } from "@brand-records/postgres";
import { brandNotFound, type Member } from "../domain/brand.ts";
import { lockBrand } from "../storage/brands.ts";
import { deleteMember, hasOwner, upsertMember } from "../storage/members.ts";

/**
 * Adds a member, or changes the role of the one with this address.
 *
 * @throws AppError `not_found`; `last_owner` if it would demote the brand's last owner
 */
export function addMember(db: Database, member: Pick<Member, "brand_id" | "email" | "role">): Promise<Member> {
  return keepingAnOwner(db, member.brand_id, (sql) => upsertMember(sql, member));
}

/** @throws AppError `not_found`; `last_owner` if it would remove the brand's last owner */
export function removeMember(db: Database, brandId: string, email: string): Promise<void> {
  return keepingAnOwner(db, brandId, async (sql) => {
    if (!(await deleteMember(sql, brandId, email))) throw new AppError("not_found", "There is no such member", { field: "email" });
  });
}

/** Locks the brand's row, so that two owners who remove each other at the same time cannot both succeed. */
function keepingAnOwner<T>(db: Database, brandId: string, change: (sql: Sql) => Promise<T>): Promise<T> {
  return db.transaction(async (sql) => {
    if ((await lockBrand(sql, brandId)) === undefined) throw brandNotFound();
    const hadOwner = await hasOwner(sql, brandId);
    const result = await change(sql);
    if (hadOwner && !(await hasOwner(sql, brandId))) {
      throw new AppError("last_owner", "This would leave the brand without an owner; make another member an owner first");
    }
    return result;
  });
}
