export { CAMPAIGN_TYPES, parsePlanInput, planInput, type CampaignType, type PlanInput } from "./plan-input.ts";
export { isCalendarDate } from "./calendar-date.ts";
