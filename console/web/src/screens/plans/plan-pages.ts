/** The steps, in order, with their fields. */
export const STEPS = {
  basics: { title: "Basics", fields: ["title", "goal", "campaign_type", "planned_for", "review_on"] },
  budget: { title: "Budget", fields: ["budget"] },
  creative: { title: "Creative", fields: ["summary", "brief", "requirements", "platforms"] },
  notes: { title: "Notes", fields: ["notes"] },
  review: { title: "Review", fields: [] },
} as const;

export type StepName = keyof typeof STEPS;

export const STEP_NAMES = Object.keys(STEPS) as StepName[];

/** Reads the step that a URL names; anything else is dropped. */
export const planSearch = ({ step }: Record<string, unknown>): { readonly step?: StepName } => {
  const known = STEP_NAMES.find((name) => name === step);
  return known === undefined ? {} : { step: known };
};

/** What the list of plans can show. */
export const PLAN_FILTERS = [
  { filter: "pending", text: "Pending" },
  { filter: "completed", text: "Completed" },
  { filter: "cancelled", text: "Cancelled" },
  { filter: "all", text: "All" },
] as const;

export type PlanFilter = (typeof PLAN_FILTERS)[number]["filter"];

/** What a URL says about the list; anything else is dropped. */
export const planListSearch = ({ status, page }: Record<string, unknown>): { readonly status?: PlanFilter; readonly page?: string } => {
  const known = PLAN_FILTERS.find(({ filter }) => filter === status);
  return { ...(known && { status: known.filter }), ...(typeof page === "string" && { page }) };
};
