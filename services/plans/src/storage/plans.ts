import { firstOf, statementsOf, type Sql, type Statement } from "@brand-records/postgres";
import type { PlanInput } from "@brand-records/resources";
import { contentOf, contentValues } from "../domain/plan-content.ts";
import type { Plan, PlanState, PlanSummary, PreparedPlan } from "../domain/plan.ts";

/** All columns of a plan as the gateway knows it: none of the workspace's, such as the notes. */
export const COLUMNS = `id, brand_id, request_id, status, title, goal, campaign_type, planned_for::text, review_on::text,
  planning_budget_centavos, summary, brief, requirements, platforms, created_at, updated_at, closed_at, closed_by`;

const statements = statementsOf("plans", {
  insertBrandLock: "insert into plans.brand_locks (brand_id) values ($1) on conflict (brand_id) do nothing",
  lockBrand: "select from plans.brand_locks where brand_id = $1 for update",
  findByRequest: `select ${COLUMNS}, input from plans.plans where brand_id = $1 and request_id = $2`,
  countPending: "select count(*) as pending from plans.plans where brand_id = $1 and status = 'pending'",
  /** Takes the clock's time, not the transaction's, which began before it waited for the lock. */
  insert: `insert into plans.plans (brand_id, id, request_id, input, title, goal, campaign_type, planned_for, review_on,
             planning_budget_centavos, summary, brief, requirements, platforms, notes, prepared_by, created_at, updated_at)
           select $1, $2, $3::uuid, $4::jsonb, $5, $6, $7, $8::date, $9::date, $10::bigint, $11, $12, $13::text[], $14::text[], $15, $16, now, now
             from clock_timestamp() now returning ${COLUMNS}`,
  findBrand: "select brand_id from plans.plans where id = $1",
  find: `select ${COLUMNS} from plans.plans where brand_id = $1 and id = $2`,
  setLockTimeout: "select set_config('lock_timeout', $1, true)",
});

/**
 * Locks the brand until the transaction ends: no other transaction makes plans of it.
 *
 * @param timeoutMs how long to wait for the lock, above 0
 */
export async function lockBrand(sql: Sql, brandId: string, timeoutMs: number): Promise<void> {
  await sql.query(statements.setLockTimeout, [String(Math.ceil(timeoutMs))]);
  await sql.query(statements.insertBrandLock, [brandId]);
  await sql.query(statements.lockBrand, [brandId]);
}

export async function findByRequest(sql: Sql, brandId: string, requestId: string): Promise<PreparedPlan | undefined> {
  const [row] = await sql.query<Plan & { input: PlanInput }>(statements.findByRequest, [brandId, requestId]);
  if (row === undefined) return undefined;
  const { input, ...plan } = row;
  return { plan, input };
}

export const countPending = async (sql: Sql, brandId: string): Promise<number> =>
  (await firstOf(sql.query<{ pending: number }>(statements.countPending, [brandId])))?.pending ?? 0;

interface NewPlan {
  readonly brandId: string;
  readonly id: string;
  readonly input: PlanInput;
  readonly preparedBy: string | null;
}

export async function insertPlan(sql: Sql, { brandId, id, input, preparedBy }: NewPlan): Promise<Plan> {
  const request = [brandId, id, input.request_id, JSON.stringify(input)];
  const [row] = await sql.query<Plan>(statements.insert, [...request, ...contentValues(contentOf(input)), preparedBy]);
  if (row === undefined) throw new Error("insert returned no row");
  return row;
}

export const findPlan = (sql: Sql, brandId: string, id: string): Promise<Plan | undefined> =>
  firstOf(sql.query<Plan>(statements.find, [brandId, id]));

/** Returns the brand of a plan, by the plan's id alone. */
export const findBrandOfPlan = async (sql: Sql, id: string): Promise<string | undefined> =>
  (await firstOf(sql.query<{ brand_id: string }>(statements.findBrand, [id])))?.brand_id;

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

const pageValues = (brandId: string, { limit, status, afterId }: PlanPage): unknown[] => [brandId, limit, status, afterId];

/** Returns plans, newest first. */
export function pageOfPlans(sql: Sql, brandId: string, page: PlanPage): Promise<Plan[]> {
  return sql.query<Plan>(pageStatement("page", COLUMNS, page), pageValues(brandId, page));
}

/** Returns summaries of plans, newest first. */
export function pageOfSummaries(sql: Sql, brandId: string, page: PlanPage): Promise<PlanSummary[]> {
  return sql.query<PlanSummary>(pageStatement("page_of_summaries", SUMMARY_COLUMNS, page), pageValues(brandId, page));
}
