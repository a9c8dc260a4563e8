import { AppError } from "@brand-records/errors";
import type { Database, Sql } from "@brand-records/postgres";
import type { RecordChange } from "@brand-records/service-runtime";
import type { AccountsDependencies } from "../dependencies.ts";
import { brandNotFound, type Member, type Membership, requireOwner } from "../domain/brand.ts";
import { pageOf, type PageRequest, positionIn, type TokenPage } from "../domain/page-token.ts";
import { lockBrand } from "../storage/brands.ts";
import { endErasure } from "../storage/erasures.ts";
import { deleteIdentitiesOf } from "../storage/identities.ts";
import { countMembers, deleteMember, findMember, hasOwner, membershipsOf, pageOfMembers, upsertMember } from "../storage/members.ts";
import { lockPerson } from "../storage/people.ts";
import { deleteSessionsMadeBy, deleteSessionsOf } from "../storage/sessions.ts";
import { deleteLinksMadeBy, deleteLinksOf } from "../storage/sign-in-links.ts";
import { requireBrand } from "./brands.ts";

/** E-mail address of the member who makes the change; undefined: the operator. */
export type ActingMember = string | undefined;

type NewMember = Pick<Member, "brand_id" | "email" | "role">;

/**
 * Adds a member, or changes the role of the one with this address.
 *
 * @throws AppError `not_found`; `owner_required`; `last_owner` if it would demote the brand's last owner; `member_limit`; with
 * `onlyNew`, `already_exists` for a member
 */
export function addMember(
  { db, limits }: Pick<AccountsDependencies, "db" | "limits">,
  member: NewMember,
  acting: ActingMember,
  { onlyNew, record }: { readonly onlyNew: boolean; readonly record: RecordChange },
): Promise<Member> {
  return changeMembers(db, member.brand_id, acting, async (sql) => {
    // Whatever was begun to be erased was another stay's.
    await lockPerson(sql, member.email);
    await endErasure(sql, member.email);
    // The brand's row is locked: no simultaneous call adds a member unseen.
    const before = await findMember(sql, member.brand_id, member.email);
    if (before !== undefined && onlyNew) throw alreadyAMember();
    if (before === undefined && (await countMembers(sql, member.brand_id)) >= limits.members)
      throw new AppError("member_limit", `A brand has at most ${limits.members} members. Remove one who no longer works on it.`);
    if (before?.role !== member.role) await record(sql);
    return withoutOwnersLinks(sql, await upsertMember(sql, member));
  });
}

/** @throws AppError `not_found` for another brand and for an address that is not a member's; `owner_required`; `last_owner` */
export function changeRole(db: Database, member: NewMember, acting: ActingMember, record: RecordChange): Promise<Member> {
  return changeMembers(db, member.brand_id, acting, async (sql) => {
    const before = await findMember(sql, member.brand_id, member.email);
    if (before === undefined) throw memberNotFound();
    if (before.role === member.role) return before;
    await record(sql);
    return withoutOwnersLinks(sql, await upsertMember(sql, member));
  });
}

/** Deletes the links that a member who is no owner made for others, and the sessions they opened: the member could act as an owner. */
async function withoutOwnersLinks(sql: Sql, member: Member): Promise<Member> {
  if (member.role === "owner") return member;
  await deleteLinksMadeBy(sql, member.brand_id, member.email);
  await deleteSessionsMadeBy(sql, member.brand_id, member.email);
  return member;
}

const alreadyAMember = (): AppError =>
  new AppError("already_exists", "This person is a member of the brand already. Nothing was changed.", { field: "email" });

const memberNotFound = (): AppError => new AppError("not_found", "There is no such member", { field: "email" });

/**
 * Removes a member, and with the membership what the member's links opened for others. With the last membership, the person's links,
 * sessions and identities are deleted: an address that is added again later may be another human's.
 *
 * Members who are no owners remove themselves alone: they leave.
 *
 * @throws AppError `not_found`; `owner_required`; `last_owner` if it would remove the brand's last owner
 */
export function removeMember(db: Database, brandId: string, email: string, acting: ActingMember, record: RecordChange): Promise<void> {
  const requiredOwner = acting === email ? undefined : acting;
  return changeMembers(db, brandId, requiredOwner, async (sql) => {
    await lockPerson(sql, email);
    if (!(await deleteMember(sql, brandId, email))) throw memberNotFound();
    await record(sql);
    if ((await membershipsOf(sql, email)).length > 0) return;
    await deleteLinksOf(sql, email);
    await deleteSessionsOf(sql, email);
    await deleteIdentitiesOf(sql, email);
  });
}

/**
 * Returns a page of a brand's members in ascending order of address, or the one with an address.
 *
 * @throws AppError `not_found` if there is no such brand; `invalid_cursor`
 */
export async function membersOf(
  db: Sql,
  brandId: string,
  { page_size, page_token }: PageRequest,
  email?: string | null,
): Promise<TokenPage<Member>> {
  await requireBrand(db, brandId);
  if (email != null) {
    const member = await findMember(db, brandId, email);
    return { rows: member === undefined ? [] : [member], nextPageToken: null };
  }
  const scope = ["members", brandId];
  const found = await pageOfMembers(db, brandId, positionIn(scope, page_token, /^([^\s\p{Cc}]+)$/u), page_size + 1);
  return pageOf(found, page_size, scope, (last) => [last.email]);
}

/** Returns the memberships of a person, in ascending order of the brands' names. */
export const listMemberships = (db: Sql, email: string): Promise<Membership[]> => membershipsOf(db, email);

/**
 * @param requiredOwner who acts, and must be an owner; undefined: not checked
 *
 * Locks the brand's row, so that two owners who remove each other at the same time cannot both succeed.
 */
function changeMembers<T>(db: Database, brandId: string, requiredOwner: ActingMember, change: (sql: Sql) => Promise<T>): Promise<T> {
  return db.transaction(async (sql) => {
    if ((await lockBrand(sql, brandId)) === undefined) throw brandNotFound();
    if (requiredOwner !== undefined) requireOwner(await findMember(sql, brandId, requiredOwner), requiredOwner);
    const hadOwner = await hasOwner(sql, brandId);
    const result = await change(sql);
    if (hadOwner && !(await hasOwner(sql, brandId))) {
      throw new AppError("last_owner", "This would leave the brand without an owner; make another member an owner first");
    }
    return result;
  });
}
