import { centavosOf, parsePlanInput, pesosOf, type CampaignType } from "@brand-records/campaign-plan";
import type { Plan } from "@brand-records/proto/plans/v1";
import type { CallContext } from "@brand-records/rpc";
import type { Services } from "../services.ts";

/** A plan as it is answered, over HTTP and to assistants alike. Its notes are in no answer. */
export interface PlanAnswer {
  readonly plan_id: string;
  readonly request_id: string;
  readonly status: string;
  readonly campaign_type: CampaignType;
  readonly title: string;
  readonly planned_for: string;
  readonly review_on: string;
  /** Pesos. */
  readonly planning_budget: number;
  /** Where people complete it, below the service's web address. */
  readonly review_path: string;
  readonly created_at: string;
}

export interface PreparedPlan {
  readonly plan: PlanAnswer;
  /** It was there before: this request was repeated. */
  readonly replayed: boolean;
}

/** Prepares a campaign plan for people to complete; the REST route, its description and the assistant tool derive from it. */
export const PREPARE_PLAN = {
  tool: "prepare_campaign_plan",
  permission: "campaigns:prepare",
  summary: "Prepare a campaign plan for people to review and complete.",
  guide:
    "Prepares a campaign plan that prefills a form in the brand's workspace. It publishes, funds, approves and spends nothing: a person reviews it there, at review_path, and confirms pay, rights and funding. Use it when your user wants a campaign planned, and show them review_path afterwards. Make one new request_id for each plan; if a call fails or you are not sure it arrived, send exactly the same again with the same request_id. A refused call uses up no request_id. request_conflict means that the request_id was used for another input or its plan was cancelled: for another plan take a new one. pending_plan_limit (200 a brand) only people can mend: tell your user. In an error, error.request_id names the call for support; it is not the plan's.",

  /** @param given as it arrived @throws AppError */
  async prepare({ plans }: Services, brandId: string, given: unknown, context: CallContext): Promise<PreparedPlan> {
    const { planning_budget: pesos, requirements = [], platforms = [], ...input } = parsePlanInput(given);
    const message = { ...input, planning_budget_centavos: centavosOf(pesos), requirements, platforms };
    const { plan, replayed } = await plans.preparePlan({ brand_id: brandId, input: message }, context);
    if (plan == null) throw new Error("preparePlan answered without a plan");
    return { plan: answerOf(plan), replayed };
  },
} as const;

function answerOf({
  id,
  request_id,
  status,
  campaign_type,
  title,
  planned_for,
  review_on,
  planning_budget_centavos,
  created_at,
}: Plan): PlanAnswer {
  return {
    plan_id: id,
    request_id,
    status,
    campaign_type: campaign_type as CampaignType,
    title,
    planned_for,
    review_on,
    planning_budget: pesosOf(planning_budget_centavos),
    review_path: `/workspaces/${campaign_type}/plans/${id}`,
    created_at,
  };
}
