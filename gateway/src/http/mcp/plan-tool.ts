import { PREPARE_PLAN } from "../../operations/prepare-plan.ts";
import { PLAN_INPUT_SCHEMA, PLAN_SCHEMA } from "../plan-schemas.ts";
import type { Tool } from "./tool.ts";

/** The assistants' face of preparing a plan: the same input, answer and permission as over HTTP. */
export const planTool: Tool = {
  name: PREPARE_PLAN.tool,
  permission: PREPARE_PLAN.permission,
  listing: {
    name: PREPARE_PLAN.tool,
    title: "Prepare a campaign plan",
    description: PREPARE_PLAN.guide,
    inputSchema: PLAN_INPUT_SCHEMA,
    outputSchema: PLAN_SCHEMA,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  async call(services, brandId, given, context) {
    const { plan } = await PREPARE_PLAN.prepare(services, brandId, Object.fromEntries(given), context);
    return JSON.stringify(plan);
  },
};
