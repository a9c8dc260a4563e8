import type { Plan } from "@brand-records/console-contract";
import type { Draft } from "./draft.ts";
import { differingFields, isSame, valuesOf, type PlanField } from "../plan-values.ts";
import { CallError } from "../../../api/call.ts";

/** What somebody else changed while the page showed the plan. */
export interface TheirChanges {
  readonly fields: readonly PlanField[];
  /** An e-mail address. */
  readonly by: string | null;
  readonly at: string;
}

/** Whether a response is of a later state: those of simultaneous requests arrive in any order. */
export const isNewer = (plan: Plan, than: Plan): boolean =>
  plan.revision > than.revision || (plan.revision === than.revision && plan.status !== "pending" && than.status === "pending");

/** What a newer plan has that the page did not show, and that is no edit of this page; added to what is not dismissed yet. */
export function theirChanges(before: Plan, after: Plan, draft: Draft, earlier: TheirChanges | undefined): TheirChanges | undefined {
  const values = valuesOf(after);
  const fields = differingFields(valuesOf(before), values).filter((field) => {
    const mine = draft[field]?.mine;
    return mine === undefined || !isSame(field, mine, values[field]);
  });
  if (fields.length === 0) return earlier;
  return { fields: [...new Set([...(earlier?.fields ?? []), ...fields])], by: after.edited_by, at: after.edited_at ?? after.updated_at };
}

/** Somebody else has changed the plan since this page read it. */
export const isChanged = (error: unknown): boolean => error instanceof CallError && error.code === "plan_changed";

/** Somebody else has changed or closed the plan: the page must read it again. */
export const isOutdated = (error: unknown): boolean =>
  isChanged(error) || (error instanceof CallError && error.code === "plan_not_pending");
