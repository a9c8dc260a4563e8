import { CallError, fieldErrors } from "../../../api/call.ts";
import type { PlanField, PlanValues } from "../plan-values.ts";
import { centavosOf } from "../money.ts";
import { FIELD_NAMES } from "../plan-texts.ts";

/** What is wrong, by field; `requirements.2` is the third requirement. */
export type Problems = Readonly<Record<string, string>>;

const BUDGET = "Enter an amount above ₱0 and up to ₱1,000,000,000, with at most two decimals, such as 75,000.50";
const DATE = "Enter a whole date: day, month and year";

/** What the page itself finds before it sends anything: text that is no amount cannot be sent. */
export const problemsOf = ({ budget }: Partial<PlanValues>): Problems =>
  budget !== undefined && centavosOf(budget) === undefined ? { budget: BUDGET } : {};

/** The service's problems, by the names of this page's fields: `requirements[2]` is `requirements.2`. */
export function refusedFields(error: unknown): Problems {
  if (!(error instanceof CallError)) return {};
  return Object.fromEntries(
    Object.entries(fieldErrors(error)).flatMap(([path, message]) => {
      const name = path.replace(/^changes\./, "").replace(/\[(\d+)\]$/, ".$1");
      if (name === "planning_budget_centavos") return [["budget", BUDGET]];
      if (name === "planned_for" || name === "review_on") return [[name, DATE]];
      return fieldOf(name) === undefined ? [] : [[name, message]];
    }),
  );
}

const fieldOf = (name: string): PlanField | undefined => {
  const [field = ""] = name.split(".");
  return Object.hasOwn(FIELD_NAMES, field) ? (field as PlanField) : undefined;
};

/** The name of a problem's field: "Title", "Requirement 3". */
export function problemName(name: string): string {
  const [field = "", index] = name.split(".");
  if (index === undefined) return FIELD_NAMES[field as PlanField];
  return `${field === "platforms" ? "Platform" : "Requirement"} ${Number(index) + 1}`;
}
