import type { Database } from "@brand-records/postgres";
import { planNotFound, type WorkspacePlan } from "../domain/plan.ts";
import { editedContent, type PlanChanges } from "../domain/plan-content.ts";
import { findWorkspacePlan, saveContent, type PlanChange } from "../storage/workspace-plans.ts";

/**
 * Changes fields of a pending plan. A change that the plan already has succeeds and raises no revision. Of any number of concurrent
 * changes on one revision, one is saved.
 *
 * @throws AppError `not_found`, `invalid_request`, `plan_not_pending`, `plan_changed`
 */
export async function updatePlan(db: Database, change: PlanChange, changes: PlanChanges): Promise<WorkspacePlan> {
  const before = await findWorkspacePlan(db, change.brandId, change.planId);
  if (before === undefined) throw planNotFound();
  const content = editedContent(before, change.expectedRevision, changes);
  if (content === undefined) return before;
  // Nothing is saved if the plan changed since it was read. It then never has the expected revision again, so the repetition is the last.
  return (await saveContent(db, change, content)) ?? updatePlan(db, change, changes);
}
