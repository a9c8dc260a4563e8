import { AppError } from "@brand-records/errors";
import type { Sql } from "@brand-records/postgres";
import { type Plan, requirePlan, type PlanSummary, type WorkspacePlan } from "../domain/plan.ts";
import { countPending, findBrandOfPlan, findPlan, pageOfPlans, pageOfSummaries, type PlanPage } from "../storage/plans.ts";
import { findWorkspacePlan } from "../storage/workspace-plans.ts";

/** @throws AppError `not_found` */
export const getPlan = async (db: Sql, brandId: string, planId: string): Promise<Plan> => requirePlan(await findPlan(db, brandId, planId));

/** @throws AppError `not_found` */
export const getWorkspacePlan = async (db: Sql, brandId: string, planId: string): Promise<WorkspacePlan> =>
  requirePlan(await findWorkspacePlan(db, brandId, planId));

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
export const findBrand = async (db: Sql, planId: string): Promise<string> => requirePlan(await findBrandOfPlan(db, planId), "id");
