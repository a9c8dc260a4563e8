/** What the list of plans can show. */
export const PLAN_FILTERS = [
  { filter: "pending", text: "Pending" },
  { filter: "completed", text: "Completed" },
  { filter: "cancelled", text: "Cancelled" },
  { filter: "all", text: "All" },
] as const;

export type PlanFilter = (typeof PLAN_FILTERS)[number]["filter"];
