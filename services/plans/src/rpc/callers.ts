import type { OperatorServiceService, PlansServiceService } from "@brand-records/proto/plans/v1";
import type { Callers } from "@brand-records/rpc";

/** Who may call which method, beside the operator. docs/security.md has the table. */
export const PLANS_CALLERS: Callers<PlansServiceService> = {
  preparePlan: ["gateway"],
  listPlanSummaries: ["console"],
  getWorkspacePlan: ["console"],
  updatePlan: ["console"],
  cancelPlan: ["console"],
  completePlan: ["console"],
};

export const OPERATOR_CALLERS: Callers<OperatorServiceService> = { findBrand: ["console"] };
