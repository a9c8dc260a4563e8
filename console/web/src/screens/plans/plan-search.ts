import { PLAN_FILTERS, type PlanFilter } from "./plan-filters.ts";
import { STEP_NAMES, type StepName } from "./steps.ts";

/** What a URL says about the list; anything else is dropped. */
export const planListSearch = ({ status, page }: Record<string, unknown>): { readonly status?: PlanFilter; readonly page?: string } => {
  const known = PLAN_FILTERS.find(({ filter }) => filter === status);
  return { ...(known && { status: known.filter }), ...(typeof page === "string" && { page }) };
};

export const planSearch = ({ step }: Record<string, unknown>): { readonly step?: StepName } => {
  const known = STEP_NAMES.find((name) => name === step);
  return known === undefined ? {} : { step: known };
};
