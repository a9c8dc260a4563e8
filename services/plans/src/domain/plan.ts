import { AppError } from "@brand-records/errors";
import type { CampaignType } from "@brand-records/campaign-plan";

export const PLAN_STATES = ["pending", "completed", "cancelled"] as const;
export type PlanState = (typeof PLAN_STATES)[number];

/** A plan as it is now. Its notes are for the workspace and are not part of it. */
export interface Plan {
  readonly id: string;
  readonly brand_id: string;
  readonly request_id: string;
  readonly status: PlanState;
  readonly title: string;
  readonly goal: string;
  readonly campaign_type: CampaignType;
  readonly planned_for: string;
  readonly review_on: string;
  readonly planning_budget_centavos: number;
  readonly summary: string | null;
  readonly brief: string | null;
  readonly requirements: string[];
  readonly platforms: string[];
  readonly created_at: string;
  readonly updated_at: string;
  readonly closed_at: string | null;
  readonly closed_by: string | null;
}

/** Also for another brand's plan: nobody learns which ids exist. */
export const noSuchPlan = (): AppError => new AppError("not_found", "There is no plan of this id", { field: "plan_id" });
