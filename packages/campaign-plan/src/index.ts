export {
  CAMPAIGN_TYPES,
  centavosOf,
  changedFields,
  parsePlanInput,
  pesosOf,
  planInput,
  type CampaignType,
  type PlanInput,
} from "./plan-input.ts";
