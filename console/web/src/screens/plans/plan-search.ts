import { STEP_NAMES, type StepName } from "./plan-steps.ts";

/** Reads the step that a URL names; anything else is dropped. */
export const planSearch = ({ step }: Record<string, unknown>): { readonly step?: StepName } => {
  const known = STEP_NAMES.find((name) => name === step);
  return known === undefined ? {} : { step: known };
};
