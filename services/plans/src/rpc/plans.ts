import { parsePlanInput, pesosOf, type PlanInput } from "@brand-records/campaign-plan";
import { AppError } from "@brand-records/errors";
import type { PlanInput as PlanInputMessage, PlansServiceService } from "@brand-records/proto/plans/v1";
import type { Handlers } from "@brand-records/rpc";
import { check, emailField, idField, nextAfterId, pageSizeField } from "@brand-records/service";
import { z } from "zod";
import type { PlansDependencies } from "../dependencies.ts";
import { PLAN_STATES, planNotFound, requireConfirmations } from "../domain/plan.ts";
import { findPlan, pageOfPlans } from "../storage/plans.ts";
import { closePlan } from "../use-cases/close-plan.ts";
import { preparePlan } from "../use-cases/prepare-plan.ts";

export function plansHandlers(deps: PlansDependencies): Handlers<PlansServiceService> {
  return {
    async preparePlan({ brand_id, input }, { deadline }) {
      check({ brand_id: fields.brandId }, { brand_id });
      return preparePlan(deps, brand_id, planInputFrom(input), deadline);
    },
    async getPlan(request) {
      const { brand_id, plan_id } = check({ brand_id: fields.brandId, plan_id: fields.planId }, request);
      const plan = await findPlan(deps.db, brand_id, plan_id);
      if (plan === undefined) throw planNotFound();
      return { plan };
    },
    async listPlans(request) {
      const { brand_id, status, page_size, after_id } = check(
        { brand_id: fields.brandId, status: fields.status.nullish(), page_size: fields.pageSize, after_id: fields.planId.nullish() },
        request,
      );
      const plans = await pageOfPlans(deps.db, brand_id, { status: status ?? null, afterId: after_id ?? null, limit: page_size });
      // After another brand's plan the page is empty, which would look like the end of the list.
      if (plans.length === 0 && after_id != null && (await findPlan(deps.db, brand_id, after_id)) === undefined) {
        throw new AppError("invalid_request", "after_id is not a plan of this brand", { field: "after_id" });
      }
      return { plans, next_after_id: nextAfterId(plans, page_size) };
    },
    async cancelPlan(request) {
      const { brand_id, plan_id, member } = check(closingFields, request);
      return { plan: await closePlan(deps.db, { brandId: brand_id, planId: plan_id, member, to: "cancelled" }) };
    },
    async completePlan(request) {
      const { brand_id, plan_id, member } = check(closingFields, request);
      requireConfirmations(request);
      return { plan: await closePlan(deps.db, { brandId: brand_id, planId: plan_id, member, to: "completed" }) };
    },
  };
}

const fields = {
  brandId: idField("brd"),
  planId: idField("pln"),
  status: z.enum(PLAN_STATES, `must be one of ${PLAN_STATES.join(", ")}`),
  /** A plan with the longest texts, in four-byte characters, is 202 KB; clients accept messages of 8 MiB. */
  pageSize: pageSizeField({ default: 20, max: 40 }),
  member: emailField(),
};

const closingFields = { brand_id: fields.brandId, plan_id: fields.planId, member: fields.member };

/** Parses the message with the same schema as the gateway, so that only valid input is stored. */
function planInputFrom(message: PlanInputMessage | null | undefined): PlanInput {
  if (message == null) throw new AppError("invalid_request", "input is required", { field: "input" });
  const { planning_budget_centavos: centavos, requirements, platforms, ...rest } = message;
  return parsePlanInput({
    ...rest,
    planning_budget: pesosOf(centavos),
    ...(requirements.length > 0 && { requirements }),
    ...(platforms.length > 0 && { platforms }),
  });
}
