import type { Plan, PlanChanges } from "@brand-records/console-contract";
import { centavosOf, pesosText } from "./money.ts";
import { STEPS, type StepName } from "./plan-pages.ts";

export type PlanField = (typeof STEPS)[StepName]["fields"][number];
type ListField = "requirements" | "platforms";

/** What people edit of a plan, as fields hold it: empty text stands for what a plan leaves out. The budget is in pesos, as typed. */
export type PlanValues = { readonly [Field in PlanField]: Field extends ListField ? readonly string[] : string };
export type PlanValue = PlanValues[PlanField];

export const PLAN_FIELDS: readonly PlanField[] = Object.values(STEPS).flatMap(({ fields }) => fields);

export function valuesOf(plan: Plan): PlanValues {
  const shown = { ...plan, budget: pesosText(plan.planning_budget_centavos) };
  return Object.fromEntries(PLAN_FIELDS.map((field) => [field, shown[field] ?? ""])) as unknown as PlanValues;
}

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
