import { AppError } from "@brand-records/errors";
import type { Database } from "@brand-records/postgres";
import { planNotFound, type Plan } from "../domain/plan.ts";
import { closePending, findPlan, type PlanClosing } from "../storage/plans.ts";

/**
 * Completes or cancels a plan permanently. Repeated, it returns the plan as first closed.
 *
 * @throws AppError `not_found`; `plan_not_pending` if the plan was closed the other way
 */
export async function closePlan(db: Database, closing: PlanClosing): Promise<Plan> {
  const plan = (await closePending(db, closing)) ?? (await findPlan(db, closing.brandId, closing.planId));
  if (plan === undefined) throw planNotFound();
  if (plan.status === closing.to) return plan;
  throw new AppError("plan_not_pending", `The plan is already ${plan.status}, which is final`, { field: "plan_id" });
}
