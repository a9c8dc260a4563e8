import type { Sql, Statement } from "@brand-records/postgres";
import type { Plan, PlanState, PlanSummary } from "../domain/plan.ts";
import { COLUMNS } from "./plans.ts";

const SUMMARY_COLUMNS = `id, status, title, campaign_type, planned_for::text, review_on::text, planning_budget_centavos, prepared_by,
  created_at, updated_at, closed_at, closed_by`;

/** Returns a statement for each combination of filters, so that each runs along an index. */
function pageStatement(name: string, columns: string, { status, afterId }: PlanPage): Statement {
  const isStatus = status === null ? "and $3::text is null" : "and p.status = $3";
  const position = "(select a.created_at, a.id from plans.plans a where a.brand_id = $1 and a.id = $4)";
  const isAfter = afterId === null ? "and $4::text is null" : `and (p.created_at, p.id) < ${position}`;
  return {
    name: `plans.${name}${status === null ? "" : "_of_status"}${afterId === null ? "" : "_after"}`,
    text: `select ${columns} from plans.plans p where p.brand_id = $1 ${isStatus} ${isAfter} order by p.created_at desc, p.id desc limit $2`,
  };
}

export interface PlanPage {
  readonly status: PlanState | null;
  readonly afterId: string | null;
  readonly limit: number;
}

/** Returns plans, newest first. */
export function pageOfPlans(sql: Sql, brandId: string, page: PlanPage): Promise<Plan[]> {
  return sql.query<Plan>(pageStatement("page", COLUMNS, page), [brandId, page.limit, page.status, page.afterId]);
}

/** Returns summaries of plans, newest first. */
export function pageOfSummaries(sql: Sql, brandId: string, page: PlanPage): Promise<PlanSummary[]> {
  return sql.query<PlanSummary>(pageStatement("page_of_summaries", SUMMARY_COLUMNS, page), [
    brandId,
    page.limit,
    page.status,
    page.afterId,
  ]);
}
