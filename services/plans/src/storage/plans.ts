import { centavosOf, type PlanInput } from "@brand-records/campaign-plan";
import type { Sql, Statement } from "@brand-records/postgres";
import type { Plan, PlanState } from "../domain/plan.ts";

/** Everything but the notes. */
const COLUMNS = `id, brand_id, request_id, status, title, goal, campaign_type, planned_for::text, review_on::text,
  planning_budget_centavos, summary, brief, requirements, platforms, created_at, updated_at, closed_at, closed_by`;

const statements = {
  knowBrand: {
    name: "plans.know_brand",
    text: "insert into plans.brand_locks (brand_id) values ($1) on conflict (brand_id) do nothing",
  },
  holdBrand: { name: "plans.hold_brand", text: "select from plans.brand_locks where brand_id = $1 for update" },
  findByRequest: {
    name: "plans.find_by_request",
    text: `select ${COLUMNS}, input from plans.plans where brand_id = $1 and request_id = $2`,
  },
  countPending: {
    name: "plans.count_pending",
    text: "select count(*) as pending from plans.plans where brand_id = $1 and status = 'pending'",
  },
  /** With the time of day rather than of the transaction, which began before it waited for the brand. */
  insert: {
    name: "plans.insert",
    text: `insert into plans.plans (brand_id, id, request_id, input, title, goal, campaign_type, planned_for, review_on,
             planning_budget_centavos, summary, brief, requirements, platforms, notes, created_at, updated_at)
           select $1, $2, $3::uuid, $4::jsonb, $5, $6, $7, $8::date, $9::date, $10::bigint, $11, $12, $13::text[], $14::text[], $15, now, now
             from clock_timestamp() now returning ${COLUMNS}`,
  },
  find: { name: "plans.find", text: `select ${COLUMNS} from plans.plans where brand_id = $1 and id = $2` },
  closePending: {
    name: "plans.close_pending",
    text: `update plans.plans set status = $3, closed_by = $4, closed_at = now(), updated_at = now()
            where brand_id = $1 and id = $2 and status = 'pending' returning ${COLUMNS}`,
  },
  boundWaiting: { name: "plans.bound_waiting", text: "select set_config('lock_timeout', $1, true)" },
} satisfies Record<string, Statement>;

/** One for each of what may be asked for, so that each goes straight to its place along an index. */
function pageStatement(ofStatus: boolean, after: boolean): Statement {
  const status = ofStatus ? "and p.status = $3" : "and $3::text is null";
  const position = "(select a.created_at, a.id from plans.plans a where a.brand_id = $1 and a.id = $4)";
  const from = after ? `and (p.created_at, p.id) < ${position}` : "and $4::text is null";
  return {
    name: `plans.page${ofStatus ? "_of_status" : ""}${after ? "_after" : ""}`,
    text: `select ${COLUMNS} from plans.plans p where p.brand_id = $1 ${status} ${from} order by p.created_at desc, p.id desc limit $2`,
  };
}

/** A plan and what it was made from. */
export interface PreparedPlan {
  readonly plan: Plan;
  readonly input: PlanInput;
}

/**
 * Until the transaction ends nobody else makes plans of this brand.
 *
 * @param withinMs how long to wait for whoever does, at least 1
 */
export async function holdBrand(sql: Sql, brandId: string, withinMs: number): Promise<void> {
  await sql.query(statements.boundWaiting, [String(Math.ceil(withinMs))]);
  await sql.query(statements.knowBrand, [brandId]);
  await sql.query(statements.holdBrand, [brandId]);
}

export async function findByRequest(sql: Sql, brandId: string, requestId: string): Promise<PreparedPlan | undefined> {
  const [row] = await sql.query<Plan & { input: PlanInput }>(statements.findByRequest, [brandId, requestId]);
  if (row === undefined) return undefined;
  const { input, ...plan } = row;
  return { plan, input };
}

export async function countPending(sql: Sql, brandId: string): Promise<number> {
  const [row] = await sql.query<{ pending: number }>(statements.countPending, [brandId]);
  return row?.pending ?? 0;
}

export async function insertPlan(
  sql: Sql,
  { brandId, id, input }: { readonly brandId: string; readonly id: string; readonly input: PlanInput },
): Promise<Plan> {
  const { request_id, title, goal, campaign_type, planned_for, review_on, planning_budget, summary, brief, notes } = input;
  const { requirements = [], platforms = [] } = input;
  const about = [request_id, JSON.stringify(input), title, goal, campaign_type, planned_for, review_on, centavosOf(planning_budget)];
  const creative = [summary ?? null, brief ?? null, requirements, platforms, notes ?? null];
  const [row] = await sql.query<Plan>(statements.insert, [brandId, id, ...about, ...creative]);
  if (row === undefined) throw new Error("the insert of a plan answered no row");
  return row;
}

export async function findPlan(sql: Sql, brandId: string, id: string): Promise<Plan | undefined> {
  const [row] = await sql.query<Plan>(statements.find, [brandId, id]);
  return row;
}

/** Newest first. */
export function pageOfPlans(
  sql: Sql,
  brandId: string,
  { status, afterId, limit }: { readonly status: PlanState | null; readonly afterId: string | null; readonly limit: number },
): Promise<Plan[]> {
  return sql.query<Plan>(pageStatement(status !== null, afterId !== null), [brandId, limit, status, afterId]);
}

/** Answers undefined if there is no such plan, or if it is not pending. */
export async function closePending(
  sql: Sql,
  { brandId, planId, member, to }: { readonly brandId: string; readonly planId: string; readonly member: string; readonly to: PlanState },
): Promise<Plan | undefined> {
  const [row] = await sql.query<Plan>(statements.closePending, [brandId, planId, to, member]);
  return row;
}
