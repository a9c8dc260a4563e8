import { isDeepStrictEqual } from "node:util";
import { AppError, type ProblemDetail } from "@brand-records/errors";
import { z } from "zod";
import { isCalendarDate } from "./calendar-date.ts";
import { centavosOf, pesosOf } from "./pesos.ts";
import { hasControlCharacters, isVisible } from "./visible-text.ts";

/** What a campaign plan is made from: the one schema behind HTTP, the assistants' tool, their descriptions and the service. */

export const CAMPAIGN_TYPES = ["blitz", "ugc", "package", "affiliate"] as const;
export type CampaignType = (typeof CAMPAIGN_TYPES)[number];

/** A centavo. */
const BUDGET_MIN = 0.01;
const BUDGET_MAX = 1_000_000_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** RFC 9562: no request has these. */
const NIL_OR_MAX = /^[0-]+$|^[f-]+$/i;

/** Unicode characters, as JSON Schema and Postgres count them: an emoji is one. */
const characters = (text: string): number => text.replaceAll(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g, " ").length;

interface TextRules {
  readonly min?: number;
  readonly max: number;
  /** No control characters: it is shown on one line. */
  readonly oneLine?: boolean;
  /** Not only white space and characters without a shape. */
  readonly visible?: boolean;
}

/** Text that is kept as it is: no trimming, no normalisation. One problem is told of each, the first. */
const text = ({ min = 0, max, oneLine = false, visible = false }: TextRules) => {
  const rule = (holds: (value: string) => boolean, error: string) => z.refine<string>(holds, { error, abort: true });
  return z
    .string("must be text")
    .check(
      rule((value) => characters(value) >= min, "must not be empty"),
      rule((value) => characters(value) <= max, `must be at most ${max.toLocaleString("en")} characters`),
      rule((value) => value.isWellFormed() && !value.includes("\0"), "must not hold NUL or lone surrogates"),
      ...(oneLine ? [rule((value) => !hasControlCharacters(value), "must not hold control characters such as line breaks")] : []),
      ...(visible ? [rule(isVisible, "must hold at least one visible character")] : []),
    )
    .meta({ ...(min > 0 && { minLength: min }), maxLength: max });
};

const list = (lengthMax: number, entry: TextRules) =>
  z
    .array(text(entry), "must be a list of texts")
    .min(1, `must have 1 to ${lengthMax} entries; leave it out if there are none`)
    .max(lengthMax, `must have 1 to ${lengthMax} entries`);

const date = () =>
  z.string("must be a date as YYYY-MM-DD, as text").refine(isCalendarDate, "must be a real date as YYYY-MM-DD, such as 2026-12-31");

const BUDGET_PROBLEM = `must be a number of pesos above 0 and at most ${BUDGET_MAX.toLocaleString("en")}, with at most two decimals`;

export const planInput = z.strictObject({
  request_id: z
    .string("must be a UUID, as text")
    .regex(UUID, "must be a UUID, 8-4-4-4-12 hexadecimal digits, made at random for this plan")
    .refine((id) => !NIL_OR_MAX.test(id), "must not be the nil or the max UUID")
    .toLowerCase()
    .describe(
      "A new UUID for each plan, made before the first attempt. Send the same one with the same input to try again: it never makes a second plan.",
    ),
  title: text({ min: 1, max: 200, oneLine: true, visible: true }).describe(
    "What people recognise the plan by: one line, at least one visible character, no control characters.",
  ),
  goal: text({ min: 1, max: 2_000, visible: true }).describe("What the campaign is to achieve."),
  campaign_type: z
    .enum(CAMPAIGN_TYPES, `must be one of ${CAMPAIGN_TYPES.join(", ")}`)
    .describe("blitz: clipping, paid per view. ugc: original content. package: influencers. affiliate: tracked promotion, paid per sale."),
  planned_for: date().describe("The day the campaign is planned for, YYYY-MM-DD."),
  review_on: date().describe("The day people are to review the plan, YYYY-MM-DD."),
  planning_budget: z
    .number(BUDGET_PROBLEM)
    .min(BUDGET_MIN, { error: BUDGET_PROBLEM, abort: true })
    .max(BUDGET_MAX, { error: BUDGET_PROBLEM, abort: true })
    .refine((pesos) => pesosOf(centavosOf(pesos)) === pesos, BUDGET_PROBLEM)
    .describe("Pesos (not centavos), at most two decimals. A figure to plan with: nothing is charged."),
  summary: text({ max: 2_000 }).optional().describe("The idea in a few sentences."),
  brief: text({ max: 20_000 }).optional().describe("What creators are to be told."),
  requirements: list(50, { max: 500 }).optional().describe("What content must have, one text each."),
  platforms: list(20, { max: 64, oneLine: true }).optional().describe("Where it is to be posted, such as tiktok."),
  notes: text({ max: 5_000 }).optional().describe("For the brand's own people in the workspace. Private: no answer ever shows them."),
});

/** In canonical form: the request_id in lower case; what was left out is absent. */
export type PlanInput = z.output<typeof planInput>;

const FIELDS = Object.keys(planInput.shape) as (keyof PlanInput)[];
const OPTIONAL: ReadonlySet<string> = new Set(
  Object.entries(planInput.shape)
    .filter(([, schema]) => schema.isOptional())
    .map(([name]) => name),
);
/** The fields in which two inputs differ, in the order of the schema. */
export const changedFields = (before: PlanInput, now: PlanInput): string[] =>
  FIELDS.filter((name) => !isDeepStrictEqual(before[name], now[name]));

/** Enough to mend a call by. */
const PROBLEMS_MAX = 30;

/**
 * Checks all of it and tells every problem at once. null and "" leave an optional field out; neither the order of fields
 * nor anything else but their values matters.
 *
 * @throws AppError `invalid_request`; `field` names the first that is wrong, `details` all
 */
export function parsePlanInput(given: unknown): PlanInput {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new AppError("invalid_request", "The plan must be one JSON object.");
  }
  const entries = Object.entries(given).filter(([name, value]) => !(OPTIONAL.has(name) && (value == null || value === "")));
  const unknown = entries.map(([name]) => name).filter((name) => !(FIELDS as readonly string[]).includes(name));
  const known = Object.fromEntries(entries.filter(([name]) => (FIELDS as readonly string[]).includes(name)));
  const parsed = planInput.safeParse(known);
  if (parsed.success && unknown.length === 0) return parsed.data;
  const problems = (parsed.error?.issues ?? []).map(({ path: [name = "", index], message }) => ({
    field: index === undefined ? String(name) : `${String(name)}[${String(index)}]`,
    message: Object.hasOwn(known, name) ? message : "is required",
  }));
  const told = [...problems, ...unknown.slice(0, PROBLEMS_MAX).map(unknownField)];
  throw invalidPlan(told, problems.length + unknown.length);
}

const unknownField = (name: string): ProblemDetail => ({
  // Half an emoji in an answer is JSON that strict readers refuse.
  field: name.slice(0, 64).toWellFormed(),
  message: `is no field of a plan; the fields are ${FIELDS.join(", ")}`,
});

function invalidPlan(problems: readonly ProblemDetail[], count: number): AppError {
  const [first] = problems;
  const others = count > 1 ? ` (${count} problems in all, see details)` : "";
  return new AppError("invalid_request", `${first?.field} ${first?.message}${others}`, {
    ...(first !== undefined && { field: first.field }),
    details: problems.slice(0, PROBLEMS_MAX),
  });
}
