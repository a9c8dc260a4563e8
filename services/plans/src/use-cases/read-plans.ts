import { AppError } from "@brand-records/errors";
import type { Sql } from "@brand-records/postgres";
import { type Plan, planNotFound, type PlanSummary, type WorkspacePlan } from "../domain/plan.ts";
import { countPending, findBrandOfPlan, findPlan, pageOfPlans, pageOfSummaries, type PlanPage } from "../storage/plans.ts";
import { findWorkspacePlan } from "../storage/workspace-plans.ts";

/** @throws AppError `not_found` */
export async function getPlan(db: Sql, brandId: string, planId: string): Promise<Plan> {
  const plan = await findPlan(db, brandId, planId);
  if (plan === undefined) throw planNotFound();
  return plan;
}

/** @throws AppError `not_found` */
export async function getWorkspacePlan(db: Sql, brandId: string, planId: string): Promise<WorkspacePlan> {
  const plan = await findWorkspacePlan(db, brandId, planId);
  if (plan === undefined) throw planNotFound();
  return plan;
}

/** Returns a brand's plans, newest first. @throws AppError `invalid_request` if `afterId` is not a plan of the brand */
export async function listPlans(db: Sql, brandId: string, page: PlanPage): Promise<Plan[]> {
  const plans = await pageOfPlans(db, brandId, page);
  if (plans.length === 0) await requireAfterId(db, brandId, page.afterId);
  return plans;
}

export interface SummariesPage {
  /** Newest first. */
  readonly plans: PlanSummary[];
  /** The brand's pending plans, whatever the page. */
  readonly pending: number;
}

/** @throws AppError `invalid_request` if `afterId` is not a plan of the brand */
export async function listSummaries(db: Sql, brandId: string, page: PlanPage): Promise<SummariesPage> {
  const [plans, pending] = await Promise.all([pageOfSummaries(db, brandId, page), countPending(db, brandId)]);
  if (plans.length === 0) await requireAfterId(db, brandId, page.afterId);
  return { plans, pending };
}

/** Checks the position of an empty page: after another brand's plan it is empty, too, which would look like the end of the list. */
async function requireAfterId(db: Sql, brandId: string, afterId: string | null): Promise<void> {
  if (afterId === null || (await findPlan(db, brandId, afterId)) !== undefined) return;
  throw new AppError("invalid_request", "after_id is not a plan of this brand", { field: "after_id" });
}

/** Returns the brand of a plan, by the plan's id alone. @throws AppError `not_found` */
export async function findBrand(db: Sql, planId: string): Promise<string> {
  const brandId = await findBrandOfPlan(db, planId);
  if (brandId === undefined) throw planNotFound("id");
  return brandId;
}
