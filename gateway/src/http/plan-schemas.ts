import { CAMPAIGN_TYPES, planInput } from "@brand-records/campaign-plan";
import { z } from "zod";

interface FieldSchema {
  readonly type: string;
  readonly [keyword: string]: unknown;
}

/** A JSON Schema of a flat object. */
export interface PlanSchema {
  readonly type: "object";
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, FieldSchema>>;
  readonly [keyword: string]: unknown;
}

/**
 * The input's JSON Schema for descriptions: types, bounds and texts. Patterns are left out, which some clients refuse and
 * no reader needs beside the texts.
 */
export const PLAN_INPUT_SCHEMA = inputSchema();

function inputSchema(): PlanSchema {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(planInput, {
    io: "input",
    override: ({ jsonSchema }) => {
      delete jsonSchema.pattern;
    },
  });
  return schema as unknown as PlanSchema;
}

const field = (type: string, description: string): FieldSchema => ({ type, description });

/** What is answered; open to fields a later version adds. */
export const PLAN_SCHEMA: PlanSchema = {
  type: "object",
  required: [
    "plan_id",
    "request_id",
    "status",
    "campaign_type",
    "title",
    "planned_for",
    "review_on",
    "planning_budget",
    "review_path",
    "created_at",
  ],
  properties: {
    plan_id: field("string", "Also the campaign's plan_id once there is one."),
    request_id: field("string", "In lower case."),
    status: field("string", "pending, or completed by a person. Cancelled plans are not answered again."),
    campaign_type: field("string", `One of ${CAMPAIGN_TYPES.join(", ")}.`),
    title: field("string", "As it is now: people may have edited the plan."),
    planned_for: field("string", "YYYY-MM-DD."),
    review_on: field("string", "YYYY-MM-DD."),
    planning_budget: field("number", "Pesos."),
    review_path: field("string", "Where people review and complete the plan, below the service's web address."),
    created_at: field("string", "RFC 3339, UTC."),
  },
};
