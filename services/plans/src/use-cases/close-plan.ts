import type { Database } from "@brand-records/postgres";
import { planChanged, planNotFound, planNotPending, type ClosedState, type WorkspacePlan } from "../domain/plan.ts";
import { closePending, findWorkspacePlan, type PlanChange } from "../storage/workspace-plans.ts";

/**
 * Completes or cancels a plan permanently. Repeated by the same member, it returns the plan as first closed, whatever the revision.
 *
 * @throws AppError `not_found`; `plan_not_pending` if the plan was closed by another member or the other way; `plan_changed`
 */
export async function closePlan(db: Database, change: PlanChange, to: ClosedState): Promise<WorkspacePlan> {
  const closed = await closePending(db, change, to);
  if (closed !== undefined) return closed;
  const found = await findWorkspacePlan(db, change.brandId, change.planId);
  if (found === undefined) throw planNotFound();
  // Another member must learn of it: what that member confirmed is not what closed the plan, and the audit log must not tell so.
  if (found.plan.status === to && found.plan.closed_by === change.member) return found;
  throw found.plan.status === "pending" ? planChanged(found, change.expectedRevision) : planNotPending(found.plan);
}
