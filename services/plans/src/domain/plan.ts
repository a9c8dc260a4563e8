import { changedFields, type CampaignType, type PlanInput } from "@brand-records/resources";
import { AppError } from "@brand-records/errors";
import type * as messages from "@brand-records/proto/plans/v1";
import type { RowOf } from "@brand-records/proto/rows";

export const PLAN_STATES = ["pending", "completed", "cancelled"] as const;
export type PlanState = (typeof PLAN_STATES)[number];
export type ClosedState = Exclude<PlanState, "pending">;

/** A plan in its current state, without its notes, which are for the workspace only. */
export type Plan = RowOf<messages.Plan, { readonly status: PlanState; readonly campaign_type: CampaignType }>;

/** A plan as its workspace shows it. */
export type WorkspacePlan = RowOf<messages.WorkspacePlan, { readonly plan: Plan }>;

/** What a change of a plan names. */
export type PlanChange = Readonly<messages.CancelPlanRequest>;

/** A plan in a list: without its long texts. */
export type PlanSummary = RowOf<messages.PlanSummary, Pick<Plan, "status" | "campaign_type">>;

/** A plan and the input of the request that made it. */
export interface PreparedPlan {
  readonly plan: Plan;
  readonly input: PlanInput;
}

/** How long a repeated request is noticed like the first, whose notice is lost if its process dies, or if the answer to its commit is. */
const NEWS_MS = 60 * 60 * 1_000;

/** Whether people should hear of a plan. @param now milliseconds since the epoch */
export const isNews = ({ status, created_at }: Plan, now: number): boolean =>
  status === "pending" && now - Date.parse(created_at) < NEWS_MS;

/** @throws AppError `not_found`, the same for unknown plans and other brands' plans, so that ids cannot be probed */
export function requirePlan<Found>(found: Found | undefined, field = "plan_id"): Found {
  if (found === undefined) throw new AppError("not_found", "There is no plan with this id", { field });
  return found;
}

/** The plan is closed by another member or the other way, or takes no edits any more. */
export const planNotPending = ({ status, closed_by, closed_at }: Plan): AppError =>
  new AppError("plan_not_pending", `The plan is already ${status}, by ${closed_by} at ${closed_at}, which is final`, { field: "plan_id" });

/** The plan has another revision than the one that the change was made on. */
export function planChanged({ revision, edited_by, edited_at }: WorkspacePlan, expectedRevision: number): AppError {
  const who = edited_by === null ? "The plan was changed" : `${edited_by} changed the plan at ${edited_at}`;
  return new AppError(
    "plan_changed",
    `${who}: it has revision ${revision}, and your change was made on revision ${expectedRevision}. Nothing was saved. Compare both, then make the change on revision ${revision}.`,
    { field: "expected_revision" },
  );
}

/**
 * Checks a repeated request against the plan it made. The input of the first request counts, not edits in the workspace.
 *
 * @throws AppError `request_conflict` if the plan is cancelled or the input differs
 */
export function requireSameRequest({ plan, input }: PreparedPlan, repeatedInput: PlanInput): void {
  if (plan.status === "cancelled") {
    throw new AppError(
      "request_conflict",
      "The plan of this request_id was cancelled. Prepare another one, with a new request_id, only if people want one.",
      { field: "request_id" },
    );
  }
  const changed = changedFields(input, repeatedInput);
  if (changed.length === 0) return;
  throw new AppError(
    "request_conflict",
    `This request_id made a plan from another input: ${changed.join(", ")}. That plan exists and is not changed here: people edit it at its review_path, which the first input returns again. Send this input under a new request_id only if they want a second plan.`,
    { field: "request_id", details: changed.map((field) => ({ field, message: "differs from the first request" })) },
  );
}

export type Confirmations = Pick<messages.CompletePlanRequest, "confirmed_pay" | "confirmed_rights" | "confirmed_funding">;

/** @throws AppError `invalid_request` that names each missing confirmation */
export function requireConfirmations({ confirmed_pay, confirmed_rights, confirmed_funding }: Confirmations): void {
  const missing = Object.entries({ confirmed_pay, confirmed_rights, confirmed_funding }).filter(([, confirmed]) => !confirmed);
  const [first] = missing;
  if (first === undefined) return;
  const details = missing.map(([field]) => ({ field, message: "must be confirmed by the person who completes the plan" }));
  throw new AppError("invalid_request", `${details.map(({ field }) => field).join(", ")} must be confirmed`, {
    field: first[0],
    details,
  });
}
