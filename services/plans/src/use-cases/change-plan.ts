import type { Database, Sql } from "@brand-records/postgres";
import type { RecordChange } from "@brand-records/service-runtime";
import { editedContent, type PlanChanges } from "../domain/plan-content.ts";
import { type ClosedState, type PlanChange, planChanged, planNotPending, type WorkspacePlan } from "../domain/plan.ts";
import { closePending, saveContent } from "../storage/workspace-plans.ts";
import { getWorkspacePlan } from "./read-plans.ts";

/**
 * Completes or cancels a plan permanently. Repeated by the same member, it returns the plan as first closed, whatever the revision.
 *
 * @throws AppError `not_found`; `plan_not_pending` if the plan was closed by another member or the other way; `plan_changed`
 */
export async function closePlan(db: Database, change: PlanChange, to: ClosedState, record: RecordChange): Promise<WorkspacePlan> {
  const closed = await recorded(db, record, (sql) => closePending(sql, change, to));
  if (closed !== undefined) return closed;
  const found = await getWorkspacePlan(db, change.brand_id, change.plan_id);
  // Another member must learn of it: what that member confirmed is not what closed the plan, and the audit log must not tell so.
  if (found.plan.status === to && found.plan.closed_by === change.member) return found;
  throw found.plan.status === "pending" ? planChanged(found, change.expected_revision) : planNotPending(found.plan);
}

/**
 * Changes fields of a pending plan. A change that the plan already has succeeds and raises no revision. Of any number of concurrent
 * changes on one revision, one is saved.
 *
 * @throws AppError `not_found`, `invalid_request`, `plan_not_pending`, `plan_changed`
 */
export async function updatePlan(db: Database, change: PlanChange, changes: PlanChanges, record: RecordChange): Promise<WorkspacePlan> {
  const before = await getWorkspacePlan(db, change.brand_id, change.plan_id);
  const content = editedContent(before, change.expected_revision, changes);
  if (content === undefined) return before;
  // Nothing is saved if the plan changed since it was read. It then never has the expected revision again, so the repetition is the last.
  const saved = await recorded(db, record, (sql) => saveContent(sql, change, content));
  return saved ?? updatePlan(db, change, changes, record);
}

/** Makes a change, and records it if it was made, in one transaction. */
function recorded<Made>(db: Database, record: RecordChange, change: (sql: Sql) => Promise<Made | undefined>): Promise<Made | undefined> {
  return db.transaction(async (sql) => {
    const made = await change(sql);
    if (made !== undefined) await record(sql);
    return made;
  });
}
