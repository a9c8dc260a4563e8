import type { PlanInput } from "@brand-records/resources";
import { AppError, parseRequest } from "@brand-records/errors";
import type { PlanInput as PlanInputMessage, PlansServiceService } from "@brand-records/proto/plans/v1";
import type { Handlers } from "@brand-records/rpc";
import { nextAfterId } from "@brand-records/service-runtime";
import type { PlansDependencies } from "../dependencies.ts";
import { parseContent } from "../domain/plan-content.ts";
import { isNews } from "../domain/plan.ts";
import { preparePlan } from "../use-cases/prepare-plan.ts";
import { getPlan, listPlans } from "../use-cases/read-plans.ts";
import { fields } from "./fields.ts";
import { workspaceHandlers } from "./workspace.ts";

export function plansHandlers(deps: PlansDependencies): Handlers<PlansServiceService> {
  return {
    async preparePlan(request, { deadline }) {
      const { brand_id: brandId, prepared_by } = parseRequest(
        { brand_id: fields.brandId, prepared_by: fields.preparedBy.nullish() },
        request,
      );
      const input = planInputFrom(request.input);
      const prepared = await preparePlan(deps, { brandId, input, preparedBy: prepared_by ?? null }, deadline);
      if (isNews(prepared.plan, deps.clock.now())) deps.onPrepared?.({ brand_id: brandId, plan_id: prepared.plan.id });
      return prepared;
    },
    async getPlan(request) {
      const { brand_id, plan_id } = parseRequest({ brand_id: fields.brandId, plan_id: fields.planId }, request);
      return { plan: await getPlan(deps.db, brand_id, plan_id) };
    },
    async listPlans(request) {
      const { brand_id, status, page_size, after_id } = parseRequest(
        { brand_id: fields.brandId, status: fields.status.nullish(), page_size: fields.pageSize, after_id: fields.planId.nullish() },
        request,
      );
      const page = { status: status ?? null, afterId: after_id ?? null, limit: page_size };
      const plans = await listPlans(deps.db, brand_id, page);
      return { plans, next_after_id: nextAfterId(plans, page_size) };
    },
    ...workspaceHandlers(deps),
  };
}

/** Parses the message with the same schema as the gateway, so that only valid input is stored. */
function planInputFrom(message: PlanInputMessage | null | undefined): PlanInput {
  if (message == null) throw new AppError("invalid_request", "input is required", { field: "input" });
  return parseContent({ ...message });
}
