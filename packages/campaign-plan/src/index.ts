export { CAMPAIGN_TYPES, changedFields, parsePlanInput, planInput, type CampaignType, type PlanInput } from "./plan-input.ts";
export { centavosOf, pesosOf } from "./pesos.ts";
