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
