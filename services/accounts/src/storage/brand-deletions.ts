import { firstOf, statementsOf, unnestRows, type Sql } from "@brand-records/postgres";
import type { BeginBrandDeletionResponse } from "@brand-records/proto/accounts/v1";
import { DELETION } from "../domain/brand.ts";
import { lockedKeys } from "./keys.ts";
import { brandRowsOf } from "./row-deletions.ts";
import { settlesInMs } from "./settling.ts";

const PEOPLE = unnestRows({ email: "text" }, { as: "p" });

const statements = statementsOf("brand_deletions", {
  find: `select e.created_at as started_at, b.id is null as finished, b.cell,
                  ${settlesInMs("e.created_at")} as settles_in_ms
             from accounts.audit_entries e left join accounts.brands b on b.id = e.brand_id
            where e.brand_id = $1 and e.action = '${DELETION}'`,
  deletedAmong: `select e.brand_id from accounts.audit_entries e where e.brand_id = any($1::text[]) and e.action = '${DELETION}'`,
  /** The clock's time: until the commit, others may act for the brand. */
  mark: `with marked as (update accounts.brands set deletion_started_at = clock_timestamp() where id = $1 returning id)
           insert into accounts.audit_entries (id, brand_id, action, subject_id, fields, request_id, created_at, recorded)
           select $2, id, '${DELETION}', id, '{}', $3, clock_timestamp(), true from marked`,
  deleteKeys: `delete from accounts.keys where id = any(${lockedKeys("brand_id = $1")})`,
  deleteMembers: "delete from accounts.members where brand_id = $1",
  /** The people must be locked. */
  forgetPeople: `with gone as (
             select email from ${PEOPLE.relation}
              where not exists (select from accounts.members m where m.email = p.email)),
           links as (delete from accounts.sign_in_links where email in (select email from gone)),
           identities as (delete from accounts.identities where email in (select email from gone))
           delete from accounts.sessions where email in (select email from gone)`,
  deleteBrand: "delete from accounts.brands where id = $1 and deletion_started_at is not null",
  finish: `update accounts.audit_entries set outcome = 'done', finished_at = now()
            where brand_id = $1 and action = '${DELETION}' and outcome is null`,
});

export type BrandDeletion = Omit<BeginBrandDeletionResponse, "quiet_ms">;

/** Returns the deletion of a brand, in progress or finished, for as long as its audit entry is kept. */
export const findBrandDeletion = (sql: Sql, brandId: string): Promise<BrandDeletion | undefined> =>
  firstOf(sql.query<BrandDeletion>(statements.find, [brandId]));

/** Returns which of these brands were deleted, or are being deleted. */
export async function deletedAmong(sql: Sql, brandIds: readonly string[]): Promise<string[]> {
  return (await sql.query<{ brand_id: string }>(statements.deletedAmong, [brandIds])).map(({ brand_id }) => brand_id);
}

/** Marks a brand as being deleted, and writes the entry of the audit log: the operator's, with nothing about a person. */
export const markBrandDeleted = (sql: Sql, brandId: string, entryId: string, requestId: string): Promise<unknown> =>
  sql.query(statements.mark, [brandId, entryId, requestId]);

export const deleteKeysOf = (sql: Sql, brandId: string): Promise<unknown> => sql.query(statements.deleteKeys, [brandId]);

/** Deletes the brand's members, who must be locked. */
export const deleteMembersOf = (sql: Sql, brandId: string): Promise<unknown> => sql.query(statements.deleteMembers, [brandId]);

/** Deletes sessions, sign-in links and identities of those of these people who are no longer a member of any brand. They must be locked. */
export const forgetPeople = (sql: Sql, emails: readonly string[]): Promise<unknown> =>
  sql.query(statements.forgetPeople, PEOPLE.values(emails.map((email) => ({ email }))));

/** Deletes the brand's audit log, but not the entry about its deletion. */
export const deleteAuditEntriesOf = brandRowsOf("audit_entries", `action <> '${DELETION}'`);

/** Deletes the brand itself, and writes the outcome into the audit log. */
export async function endBrandDeletion(sql: Sql, brandId: string): Promise<void> {
  await sql.query(statements.deleteBrand, [brandId]);
  await sql.query(statements.finish, [brandId]);
}
