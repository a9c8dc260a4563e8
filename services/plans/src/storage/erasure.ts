import { countOf, statementsOf, type Sql } from "@brand-records/postgres";
import type { PersonPlan } from "@brand-records/proto/plans/v1";

const statements = statementsOf("erasure", {
  deletePlans: `delete from plans.plans where brand_id = $1 and id = any(array(
             select p.id from plans.plans p where p.brand_id = $1 limit $2)) returning 1`,
  lock: "select from plans.brand_locks where brand_id = $1 for update",
  deleteRest: "delete from plans.plans where brand_id = $1",
  deleteLock: "delete from plans.brand_locks where brand_id = $1",
  page: `select id, brand_id, status, coalesce(closed_by = $1, false) as closed_by_person, closed_at,
                  coalesce(edited_by = $1, false) as edited_by_person, edited_at
             from plans.plans where (closed_by = $1 or edited_by = $1) and id > $2 order by id limit $3`,
  // Neither the time of the last change nor the revision rises: the plan does not change.
  erase: `update plans.plans set
             closed_by = case when closed_by = $1 then $2 else closed_by end,
             edited_by = case when edited_by = $1 then $2 else edited_by end
            where id = any(array(select id from plans.plans where closed_by = $1 or edited_by = $1 limit $3)) returning 1`,
  brands: "select distinct brand_id from plans.plans where closed_by = $1 or edited_by = $1 order by brand_id",
});

/** Deletes up to `limit` plans of a brand. Returns how many. */
export const deletePlansOf = (sql: Sql, brandId: string, limit: number): Promise<number> =>
  countOf(sql.query(statements.deletePlans, [brandId, limit]));

/** Deletes the row that plans of a brand are made under. Waits for a transaction that holds it, and deletes the plan that it made. Must run in a transaction. */
export async function deleteBrandLock(sql: Sql, brandId: string): Promise<void> {
  await sql.query(statements.lock, [brandId]);
  await sql.query(statements.deleteRest, [brandId]);
  await sql.query(statements.deleteLock, [brandId]);
}

/** Returns plans that a person closed or edited, in ascending order of id, after `afterId`. */
export function pageOfPersonPlans(sql: Sql, email: string, afterId: string, limit: number): Promise<PersonPlan[]> {
  return sql.query<PersonPlan>(statements.page, [email, afterId, limit]);
}

/** Puts the pseudonym in place of the address in up to `limit` plans. Returns how many. */
export const erasePerson = (sql: Sql, email: string, pseudonym: string, limit: number): Promise<number> =>
  countOf(sql.query(statements.erase, [email, pseudonym, limit]));

/** Returns the brands with a plan that has the pseudonym. */
export async function brandsNaming(sql: Sql, pseudonym: string): Promise<string[]> {
  return (await sql.query<{ brand_id: string }>(statements.brands, [pseudonym])).map(({ brand_id }) => brand_id);
}
