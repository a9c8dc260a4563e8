import type { Plan, PlanChanges } from "@brand-records/console-contract";
import { centavosOf, pesosText } from "./money.ts";
import { STEPS } from "./plan-steps.ts";

/** What people edit of a plan, as fields hold it: empty text stands for what a plan leaves out. */
export interface PlanValues {
  readonly title: string;
  readonly goal: string;
  readonly campaign_type: string;
  readonly planned_for: string;
  readonly review_on: string;
  /** Pesos, as typed. */
  readonly budget: string;
  readonly summary: string;
  readonly brief: string;
  readonly requirements: readonly string[];
  readonly platforms: readonly string[];
  readonly notes: string;
}

export type PlanField = keyof PlanValues;
export type PlanValue = PlanValues[PlanField];

export const PLAN_FIELDS: readonly PlanField[] = Object.values(STEPS).flat();

export const valuesOf = (plan: Plan): PlanValues => ({
  title: plan.title,
  goal: plan.goal,
  campaign_type: plan.campaign_type,
  planned_for: plan.planned_for,
  review_on: plan.review_on,
  budget: pesosText(plan.planning_budget_centavos),
  summary: plan.summary ?? "",
  brief: plan.brief ?? "",
  requirements: plan.requirements,
  platforms: plan.platforms,
  notes: plan.notes ?? "",
});

/** Whether two values of a field mean the same: "75000" and "75,000.00" are one budget. */
export function isSame(field: PlanField, one: PlanValue, other: PlanValue): boolean {
  if (typeof one !== "string" || typeof other !== "string") {
    return one.length === other.length && Array.from(one).every((entry, index) => entry === other[index]);
  }
  return one === other || (field === "budget" && centavosOf(one) !== undefined && centavosOf(one) === centavosOf(other));
}

export const differingFields = (one: PlanValues, other: PlanValues): PlanField[] =>
  PLAN_FIELDS.filter((field) => !isSame(field, one[field], other[field]));

/** What a call carries. @param values with a budget that is an amount, if it has one */
export function changesOf({ budget, requirements, platforms, ...texts }: Partial<PlanValues>): PlanChanges {
  const centavos = budget === undefined ? undefined : centavosOf(budget);
  return {
    ...texts,
    ...(centavos !== undefined && { planning_budget_centavos: centavos }),
    ...(requirements && { requirements: [...requirements] }),
    ...(platforms && { platforms: [...platforms] }),
  };
}
