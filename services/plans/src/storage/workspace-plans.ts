import { statementsOf, type Sql } from "@brand-records/postgres";
import type { ClosedState, Plan, PlanChange, WorkspacePlan } from "../domain/plan.ts";
import { contentValues, type PlanContent } from "../domain/plan-content.ts";
import { COLUMNS } from "./plans.ts";

const WORKSPACE_COLUMNS = `${COLUMNS}, notes, revision, prepared_by, edited_by, edited_at`;

// A trigger raises the revision, so that no statement can forget it.
const statements = statementsOf("workspace_plans", {
  find: `select ${WORKSPACE_COLUMNS} from plans.plans where brand_id = $1 and id = $2`,
  saveContent: `update plans.plans set title = $5, goal = $6, campaign_type = $7, planned_for = $8::date, review_on = $9::date,
             planning_budget_centavos = $10::bigint, summary = $11, brief = $12, requirements = $13::text[], platforms = $14::text[],
             notes = $15, edited_by = $4, edited_at = now(), updated_at = now()
            where brand_id = $1 and id = $2 and revision = $3 and status = 'pending' returning ${WORKSPACE_COLUMNS}`,
  closePending: `update plans.plans set status = $5, closed_by = $4, closed_at = now(), updated_at = now()
            where brand_id = $1 and id = $2 and revision = $3 and status = 'pending' returning ${WORKSPACE_COLUMNS}`,
});

type Row = Plan & Omit<WorkspacePlan, "plan">;

function workspacePlan(row: Row | undefined): WorkspacePlan | undefined {
  if (row === undefined) return undefined;
  const { notes, revision, prepared_by, edited_by, edited_at, ...plan } = row;
  return { plan, notes, revision, prepared_by, edited_by, edited_at };
}

export async function findWorkspacePlan(sql: Sql, brandId: string, id: string): Promise<WorkspacePlan | undefined> {
  const [row] = await sql.query<Row>(statements.find, [brandId, id]);
  return workspacePlan(row);
}

/** Saves the content if the plan is pending and has the expected revision. Returns undefined if not, or if it does not exist. */
export async function saveContent(sql: Sql, change: PlanChange, content: PlanContent): Promise<WorkspacePlan | undefined> {
  const [row] = await sql.query<Row>(statements.saveContent, [...valuesOf(change), ...contentValues(content)]);
  return workspacePlan(row);
}

/** Closes the plan if it is pending and has the expected revision. Returns undefined if not, or if it does not exist. */
export async function closePending(sql: Sql, change: PlanChange, to: ClosedState): Promise<WorkspacePlan | undefined> {
  const [row] = await sql.query<Row>(statements.closePending, [...valuesOf(change), to]);
  return workspacePlan(row);
}

const valuesOf = ({ brand_id, plan_id, expected_revision, member }: PlanChange): unknown[] => [
  brand_id,
  plan_id,
  expected_revision,
  member,
];
