import { AppError, parseRequest } from "@brand-records/errors";
import type { PlanChanges as PlanChangesMessage, PlansServiceService } from "@brand-records/proto/plans/v1";
import type { CallContext, Handlers } from "@brand-records/rpc";
import { nextAfterId } from "@brand-records/service-runtime";
import type { PlansDependencies } from "../dependencies.ts";
import type { PlanChanges } from "../domain/plan-content.ts";
import { type ClosedState, type PlanChange, requireConfirmations } from "../domain/plan.ts";
import { closePlan, updatePlan } from "../use-cases/change-plan.ts";
import { getWorkspacePlan, listSummaries } from "../use-cases/read-plans.ts";
import { fields } from "./fields.ts";

/** The calls of the workspace. A grant has proved who acts; without one it is the operator, who may name any address. */
export function workspaceHandlers(
  deps: PlansDependencies,
): Pick<Handlers<PlansServiceService>, "listPlanSummaries" | "getWorkspacePlan" | "updatePlan" | "cancelPlan" | "completePlan"> {
  const { db, audit, pendingMax } = deps;
  const close = async (change: PlanChange, to: ClosedState, call: CallContext) => {
    const closed = await closePlan(db, change, to, audit.record(call));
    return { plan: closed.plan, workspace_plan: closed };
  };
  return {
    async listPlanSummaries(request) {
      const { brand_id, status, page_size, after_id } = parseRequest(summariesFields, request);
      const page = { status: status ?? null, afterId: after_id ?? null, limit: page_size };
      const { plans, pending } = await listSummaries(db, brand_id, page);
      return { plans, next_after_id: nextAfterId(plans, page_size), pending, pending_max: pendingMax };
    },
    async getWorkspacePlan(request) {
      const { brand_id, plan_id } = parseRequest(ofPlan, request);
      return { plan: await getWorkspacePlan(db, brand_id, plan_id) };
    },
    async updatePlan(request, call) {
      const { acting_member: member, ...plan } = parseRequest(updateFields, request);
      const changes = changesFrom(request.changes);
      return { plan: await updatePlan(db, { ...plan, member }, changes, audit.record(call)) };
    },
    cancelPlan: async (request, call) => close(parseRequest(closingFields, request), "cancelled", call),
    async completePlan(request, call) {
      const closing = parseRequest(closingFields, request);
      requireConfirmations(request);
      return close(closing, "completed", call);
    },
  };
}

const ofPlan = { brand_id: fields.brandId, plan_id: fields.planId };
const updateFields = { ...ofPlan, acting_member: fields.member, expected_revision: fields.revision };
const closingFields = { ...ofPlan, member: fields.member, expected_revision: fields.revision };
const summariesFields = {
  brand_id: fields.brandId,
  status: fields.status.nullish(),
  page_size: fields.summariesPageSize,
  after_id: fields.planId.nullish(),
};

/** Returns the fields that the message names. */
function changesFrom(message: PlanChangesMessage | null): PlanChanges {
  if (message === null) throw new AppError("invalid_request", "changes is required", { field: "changes" });
  const { requirements, platforms, ...others } = message;
  return {
    ...Object.fromEntries(Object.entries(others).filter(([, value]) => value != null)),
    ...(requirements !== null && { requirements: requirements.texts }),
    ...(platforms !== null && { platforms: platforms.texts }),
  };
}
