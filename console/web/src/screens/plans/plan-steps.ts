/** The steps, in order, with their fields. */
export const STEPS = {
  basics: ["title", "goal", "campaign_type", "planned_for", "review_on"],
  budget: ["budget"],
  creative: ["summary", "brief", "requirements", "platforms"],
  notes: ["notes"],
  review: [],
} as const;

export type StepName = keyof typeof STEPS;

export const STEP_NAMES = Object.keys(STEPS) as StepName[];
