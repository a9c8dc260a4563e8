import type { PlanEditing } from "../editing/use-plan-editing.ts";

/** What the fields of a step show, and what they call. */
export type StepProps = Pick<PlanEditing, "values" | "problems" | "edit">;

/** The id of a field's element; `name` is as in Problems. */
export const fieldId = (name: string): string => `plan-${name}`;

/** Moves the focus to a field. Of a choice, to what is chosen. */
export function focusField(name: string): void {
  const element = document.getElementById(fieldId(name));
  (element?.querySelector<HTMLElement>("input:checked") ?? element)?.focus();
}
