import type { WorkspacePlan } from "@brand-records/proto/plans/v1";
import type { Handlers } from "./operation.ts";

const PAGE_SIZE = 50;

export const PLANS: Handlers<"plans"> = {
  "plans.list": {
    run: ({ plans }, { call, person }, input) =>
      plans.listPlanSummaries({ ...input, acting_member: person.email, page_size: PAGE_SIZE }, call),
  },
  "plans.get": {
    run: async ({ plans }, { call, person }, input) =>
      shown((await plans.getWorkspacePlan({ ...input, acting_member: person.email }, call)).plan),
  },
  "plans.update": {
    audit: { action: "plan.update", subject: ({ plan_id }) => plan_id, fields: ({ changes }) => Object.keys(changes) },
    async run({ plans }, { call, person }, { changes: { requirements, platforms, ...texts }, ...input }) {
      const changes = {
        ...texts,
        requirements: requirements === undefined ? null : { texts: requirements },
        platforms: platforms === undefined ? null : { texts: platforms },
      };
      return shown((await plans.updatePlan({ ...input, acting_member: person.email, changes }, call)).plan);
    },
  },
  "plans.complete": {
    audit: { action: "plan.complete", subject: ({ plan_id }) => plan_id },
    run: async ({ plans }, { call, person }, input) =>
      shown((await plans.completePlan({ ...input, member: person.email }, call)).workspace_plan),
  },
  "plans.cancel": {
    audit: { action: "plan.cancel", subject: ({ plan_id }) => plan_id },
    run: async ({ plans }, { call, person }, input) =>
      shown((await plans.cancelPlan({ ...input, member: person.email }, call)).workspace_plan),
  },
};

function shown(message: WorkspacePlan | null) {
  if (message?.plan == null) throw new Error("plans returned no plan");
  return { plan: { ...message.plan, ...message } };
}
