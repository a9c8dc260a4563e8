import type { Plan } from "@brand-records/console-contract";
import type { WorkspacePlan } from "@brand-records/proto/plans/v1";
import type { BrandHandler } from "./operation.ts";

const PAGE_SIZE = 50;

export const listPlans: BrandHandler<"plans.list"> = {
  async run({ plans }, { call, person }, { brand_id, status, after_id }) {
    const request = { brand_id, acting_member: person.email, status: status ?? null, page_size: PAGE_SIZE, after_id: after_id ?? null };
    const { plans: page, next_after_id, pending, pending_max } = await plans.listPlanSummaries(request, call);
    return {
      plans: page.map(({ status: state, ...plan }) => ({
        ...plan,
        status: state as Plan["status"],
        prepared_by: plan.prepared_by ?? null,
        closed_at: plan.closed_at ?? null,
        closed_by: plan.closed_by ?? null,
      })),
      next_after_id: next_after_id ?? null,
      pending,
      pending_max,
    };
  },
};

export const getPlan: BrandHandler<"plans.get"> = {
  async run({ plans }, { call, person }, { brand_id, plan_id }) {
    const { plan } = await plans.getWorkspacePlan({ brand_id, plan_id, acting_member: person.email }, call);
    return { plan: toPlan(plan) };
  },
};

export const updatePlan: BrandHandler<"plans.update"> = {
  audit: { action: "plan.update", subject: ({ plan_id }) => plan_id, fields: ({ changes }) => Object.keys(changes) },
  async run({ plans }, { call, person }, { brand_id, plan_id, expected_revision, changes: { requirements, platforms, ...changes } }) {
    const { plan } = await plans.updatePlan(
      {
        brand_id,
        plan_id,
        acting_member: person.email,
        expected_revision,
        changes: {
          ...changes,
          requirements: requirements === undefined ? null : { texts: requirements },
          platforms: platforms === undefined ? null : { texts: platforms },
        },
      },
      call,
    );
    return { plan: toPlan(plan) };
  },
};

export const completePlan: BrandHandler<"plans.complete"> = {
  audit: { action: "plan.complete", subject: ({ plan_id }) => plan_id },
  async run({ plans }, { call, person }, input) {
    const { workspace_plan } = await plans.completePlan({ ...input, member: person.email }, call);
    return { plan: toPlan(workspace_plan) };
  },
};

export const cancelPlan: BrandHandler<"plans.cancel"> = {
  audit: { action: "plan.cancel", subject: ({ plan_id }) => plan_id },
  async run({ plans }, { call, person }, input) {
    const { workspace_plan } = await plans.cancelPlan({ ...input, member: person.email }, call);
    return { plan: toPlan(workspace_plan) };
  },
};

function toPlan(message: WorkspacePlan | null): Plan {
  if (message?.plan == null) throw new Error("plans returned no plan");
  const { plan, notes, revision, prepared_by, edited_by, edited_at } = message;
  return {
    ...plan,
    status: plan.status as Plan["status"],
    summary: plan.summary ?? null,
    brief: plan.brief ?? null,
    closed_at: plan.closed_at ?? null,
    closed_by: plan.closed_by ?? null,
    notes: notes ?? null,
    revision,
    prepared_by: prepared_by ?? null,
    edited_by: edited_by ?? null,
    edited_at: edited_at ?? null,
  };
}
