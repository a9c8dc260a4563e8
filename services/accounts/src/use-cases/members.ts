import { AppError } from "@brand-records/errors";
import type { Database, Sql } from "@brand-records/postgres";
import { brandNotFound, type Member } from "../domain/brand.ts";
import { requireOwner } from "../domain/membership.ts";
import { lockBrand } from "../storage/brands.ts";
import { deleteIdentitiesOf } from "../storage/identities.ts";
import { deleteMember, findMember, hasOwner, membershipsOf, upsertMember } from "../storage/members.ts";
import { lockPerson } from "../storage/people.ts";
import { deleteSessionsOf } from "../storage/sessions.ts";

/** E-mail address of the member who makes the change; undefined: the operator. */
export type ActingMember = string | undefined;

/**
 * Adds a member, or changes the role of the one with this address.
 *
 * @throws AppError `not_found`; `owner_required`; `last_owner` if it would demote the brand's last owner
 */
export function addMember(db: Database, member: Pick<Member, "brand_id" | "email" | "role">, acting: ActingMember): Promise<Member> {
  return changeMembers(db, member.brand_id, acting, (sql) => upsertMember(sql, member));
}

/**
 * Removes a member. With the last membership, the person's sessions and identities are deleted: an address that is added again later
 * may be another human's.
 *
 * @throws AppError `not_found`; `owner_required`; `last_owner` if it would remove the brand's last owner
 */
export function removeMember(db: Database, brandId: string, email: string, acting: ActingMember): Promise<void> {
  return changeMembers(db, brandId, acting, async (sql) => {
    await lockPerson(sql, email);
    if (!(await deleteMember(sql, brandId, email))) throw new AppError("not_found", "There is no such member", { field: "email" });
    if ((await membershipsOf(sql, email)).length > 0) return;
    await deleteSessionsOf(sql, email);
    await deleteIdentitiesOf(sql, email);
  });
}

/** Locks the brand's row, so that two owners who remove each other at the same time cannot both succeed. */
function changeMembers<T>(db: Database, brandId: string, acting: ActingMember, change: (sql: Sql) => Promise<T>): Promise<T> {
  return db.transaction(async (sql) => {
    if ((await lockBrand(sql, brandId)) === undefined) throw brandNotFound();
    if (acting !== undefined) requireOwner(await findMember(sql, brandId, acting), acting);
    const hadOwner = await hasOwner(sql, brandId);
    const result = await change(sql);
    if (hadOwner && !(await hasOwner(sql, brandId))) {
      throw new AppError("last_owner", "This would leave the brand without an owner; make another member an owner first");
    }
    return result;
  });
}
