import type { Sql, Statement } from "@brand-records/postgres";
import type { PersonPlan } from "@brand-records/proto/plans/v1";

const statements = {
  deletePlans: {
    name: "brand_deletion.plans",
    text: `delete from plans.plans where brand_id = $1 and id = any(array(
             select p.id from plans.plans p where p.brand_id = $1 limit $2)) returning 1`,
  },
  lock: { name: "brand_deletion.lock", text: "select from plans.brand_locks where brand_id = $1 for update" },
  deleteRest: { name: "brand_deletion.rest", text: "delete from plans.plans where brand_id = $1" },
  deleteLock: { name: "brand_deletion.brand_lock", text: "delete from plans.brand_locks where brand_id = $1" },
  page: {
    name: "person_plans.page",
    text: `select id, brand_id, status, coalesce(closed_by = $1, false) as closed_by_person, closed_at,
                  coalesce(edited_by = $1, false) as edited_by_person, edited_at
             from plans.plans where (closed_by = $1 or edited_by = $1) and id > $2 order by id limit $3`,
  },
  // Neither the time of the last change nor the revision rises: the plan does not change.
  erase: {
    name: "person_plans.erase",
    text: `update plans.plans set
             closed_by = case when closed_by = $1 then $2 else closed_by end,
             edited_by = case when edited_by = $1 then $2 else edited_by end
            where id = any(array(select id from plans.plans where closed_by = $1 or edited_by = $1 limit $3)) returning 1`,
  },
  brands: {
    name: "person_plans.brands",
    text: "select distinct brand_id from plans.plans where closed_by = $1 or edited_by = $1 order by brand_id",
  },
} satisfies Record<string, Statement>;

/** Deletes up to `limit` plans of a brand. Returns how many. */
export async function deletePlansOf(sql: Sql, brandId: string, limit: number): Promise<number> {
  return (await sql.query(statements.deletePlans, [brandId, limit])).length;
}

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
export async function erasePerson(sql: Sql, email: string, pseudonym: string, limit: number): Promise<number> {
  return (await sql.query(statements.erase, [email, pseudonym, limit])).length;
}

/** Returns the brands with a plan that has the pseudonym. */
export async function brandsNaming(sql: Sql, pseudonym: string): Promise<string[]> {
  return (await sql.query<{ brand_id: string }>(statements.brands, [pseudonym])).map(({ brand_id }) => brand_id);
}
