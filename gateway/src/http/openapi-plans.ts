import { PREPARE_PLAN } from "../operations/prepare-plan.ts";
import { COMMON_KINDS, errorResponses } from "./openapi-errors.ts";
import { ANSWER_HEADERS } from "./openapi-headers.ts";
import { PLAN_INPUT_SCHEMA, PLAN_SCHEMA, type PlanSchema } from "./plan-schemas.ts";

const INPUT_EXAMPLE = {
  request_id: "0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11",
  title: "Tag-ulan skincare clips",
  goal: "500,000 views of short clips about the barrier cream before Christmas.",
  campaign_type: "blitz",
  planned_for: "2026-12-01",
  review_on: "2026-11-25",
  planning_budget: 75_000,
  brief: "Show the cream in the rain. No medical claims.",
  requirements: ["Vertical video, 15 to 30 seconds", "The product is seen in the first 3 seconds"],
  platforms: ["tiktok", "instagram"],
};

const PLAN_EXAMPLE = {
  plan_id: "pln_01m7e9rkgsf6p8ke7n67az5qq0",
  request_id: INPUT_EXAMPLE.request_id,
  status: "pending",
  campaign_type: INPUT_EXAMPLE.campaign_type,
  title: INPUT_EXAMPLE.title,
  planned_for: INPUT_EXAMPLE.planned_for,
  review_on: INPUT_EXAMPLE.review_on,
  planning_budget: INPUT_EXAMPLE.planning_budget,
  review_path: "/workspaces/blitz/plans/pln_01m7e9rkgsf6p8ke7n67az5qq0",
  created_at: "2026-11-21T08:30:00.000Z",
};

/** For generators only: some clients of assistants refuse formats. A number without one is read as 32 bits, which hold seven digits. */
const FORMATS: Readonly<Record<string, string>> = {
  request_id: "uuid",
  planned_for: "date",
  review_on: "date",
  planning_budget: "double",
  created_at: "date-time",
};

/** For people and generators: with formats, and null where it leaves a field out. */
export const planInputSchema = (): object => describedPlan(PLAN_INPUT_SCHEMA);

export const planSchema = (): object => describedPlan(PLAN_SCHEMA);

function describedPlan(plan: PlanSchema): object {
  const properties = Object.entries(plan.properties).map(([name, { type, ...schema }]) => [
    name,
    { type: plan.required.includes(name) ? type : [type, "null"], ...(name in FORMATS && { format: FORMATS[name] }), ...schema },
  ]);
  return { ...plan, properties: Object.fromEntries(properties) as object };
}

const plan = { schema: { $ref: "#/components/schemas/CampaignPlan" }, example: PLAN_EXAMPLE };

export const planPath = {
  post: {
    operationId: "prepareCampaignPlan",
    tags: ["Campaign plans"],
    summary: PREPARE_PLAN.summary,
    description:
      'Needs a key with `campaigns:prepare`. Nothing is published, funded or spent: people complete the plan at `review_path` in the workspace. One `request_id` makes one plan, however often it is sent, over HTTP and by assistants, also with another key of the brand: repeat with the same `request_id` and input until there is an answer. `null` and `""` leave an optional field out; the order of fields does not matter.',
    requestBody: {
      required: true,
      content: { "application/json": { schema: { $ref: "#/components/schemas/CampaignPlanInput" }, example: INPUT_EXAMPLE } },
    },
    responses: {
      "200": {
        description: "The plan that an earlier request of this `request_id` made, as it is now.",
        headers: {
          ...ANSWER_HEADERS,
          "Idempotent-Replayed": { description: "Always `true` here.", schema: { type: "string", const: "true" } },
        },
        content: { "application/json": plan },
      },
      "201": { description: "The plan was made.", headers: ANSWER_HEADERS, content: { "application/json": plan } },
      ...errorResponses([
        ...COMMON_KINDS,
        "invalid_json",
        "permission_required",
        "request_conflict",
        "pending_plan_limit",
        "unsupported_media_type",
      ]),
    },
  },
};
