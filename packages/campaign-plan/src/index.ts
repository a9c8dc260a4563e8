export { CAMPAIGN_TYPES, changedFields, parsePlanInput, planInput, type CampaignType, type PlanInput } from "./plan-input.ts";
export { isCalendarDate } from "./calendar-date.ts";
