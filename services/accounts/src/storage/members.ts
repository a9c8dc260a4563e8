import { firstOf, isFound, onlyOf, statementsOf, type Sql } from "@brand-records/postgres";
import type { Member, Membership } from "../domain/brand.ts";
import type { Position } from "../domain/page-token.ts";

const COLUMNS = "brand_id, email, role, created_at";

/** Columns of a membership: members `m` joined with brands `b`. */
export const MEMBERSHIP_COLUMNS = "m.brand_id, b.name as brand_name, b.tier, b.verified, m.role";
export const MEMBERSHIP_ORDER = "b.name, m.brand_id";

const statements = statementsOf("members", {
  upsert: `insert into accounts.members (brand_id, email, role, has_opened) values ($1, $2, $3, false)
           on conflict (brand_id, email) do update set role = excluded.role returning ${COLUMNS}`,
  find: `select ${COLUMNS} from accounts.members where brand_id = $1 and email = $2`,
  page: `select ${COLUMNS} from accounts.members where brand_id = $1 and email > coalesce($2, '') order by email limit $3`,
  count: "select count(*)::int as members from accounts.members where brand_id = $1",
  delete: `delete from accounts.members where brand_id = $1 and email = $2 returning email`,
  memberships: `select ${MEMBERSHIP_COLUMNS} from accounts.members m join accounts.brands b on b.id = m.brand_id
            where m.email = $1 order by ${MEMBERSHIP_ORDER}`,
  openedBrands: "select brand_id from accounts.members where email = $1 and has_opened order by brand_id",
  owners: `select email from accounts.members where brand_id = $1 and role = 'owner' limit 1`,
});

/** Adds a member, or changes the role of the one with this address. */
export const upsertMember = (sql: Sql, member: Pick<Member, "brand_id" | "email" | "role">): Promise<Member> =>
  onlyOf(sql.query<Member>(statements.upsert, [member.brand_id, member.email, member.role]));

export const findMember = (sql: Sql, brandId: string, email: string): Promise<Member | undefined> =>
  firstOf(sql.query<Member>(statements.find, [brandId, email]));

/** Returns members of a brand in ascending order of address, after one. @param limit null: all */
export const pageOfMembers = (sql: Sql, brandId: string, [email]: Position, limit: number | null): Promise<Member[]> =>
  sql.query<Member>(statements.page, [brandId, email, limit]);

export const countMembers = async (sql: Sql, brandId: string): Promise<number> =>
  (await firstOf(sql.query<{ members: number }>(statements.count, [brandId])))?.members ?? 0;

/** Returns whether the member existed. */
export const deleteMember = (sql: Sql, brandId: string, email: string): Promise<boolean> =>
  isFound(sql.query(statements.delete, [brandId, email]));

export const hasOwner = (sql: Sql, brandId: string): Promise<boolean> => isFound(sql.query(statements.owners, [brandId]));

/** Returns the memberships of a person, in ascending order of the brands' names. */
export const membershipsOf = (sql: Sql, email: string): Promise<Membership[]> => sql.query<Membership>(statements.memberships, [email]);

/** Returns the brands that a person has opened in some session. */
export const openedBrandsOf = (sql: Sql, email: string): Promise<{ brand_id: string }[]> => sql.query(statements.openedBrands, [email]);

/**
 * Returns the brands whose logs tell what the operator does about a person's sign-ins: those that the person has opened; before the first,
 * all of them, because a restore takes identities away by these entries.
 */
export async function brandsToldOf(sql: Sql, email: string): Promise<readonly { readonly brand_id: string }[]> {
  const opened = await openedBrandsOf(sql, email);
  return opened.length > 0 ? opened : membershipsOf(sql, email);
}
