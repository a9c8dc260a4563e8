import type { PersonPlan } from "@brand-records/proto/plans/v1";
import type { Sql, Statement } from "@brand-records/postgres";

const statements = {
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
