/** Bounds of a plan's fields. The console's pages use them too: this file imports nothing. */
export const PLAN_LIMITS = {
  title: 200,
  goal: 2_000,
  summary: 2_000,
  brief: 20_000,
  notes: 5_000,
  requirements: { entries: 50, characters: 500 },
  platforms: { entries: 20, characters: 64 },
  budgetPesos: 1_000_000_000,
} as const;

/** Counts Unicode characters, as JSON Schema and Postgres do: an emoji is one. */
export const countCharacters = (value: string): number => value.replaceAll(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g, " ").length;
