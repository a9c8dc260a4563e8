import { isDeepStrictEqual } from "node:util";
import { AppError, othersIn, PROBLEMS_MAX, unknownNames, type ProblemDetail } from "@brand-records/errors";
import { z } from "zod";
import { date, list, text } from "./field-schemas.ts";
import { PLAN_LIMITS } from "./limits.ts";

export const CAMPAIGN_TYPES = ["blitz", "ugc", "package", "affiliate"] as const;
export type CampaignType = (typeof CAMPAIGN_TYPES)[number];

/** Requests and responses give the budget in pesos, everything else in centavos. Exact up to 1,000,000,000 pesos. */
export const centavosOf = (pesos: number): number => Math.round(pesos * 100);
export const pesosOf = (centavos: number): number => centavos / 100;

/** One centavo. */
const BUDGET_MIN = 0.01;
const { budgetPesos: BUDGET_MAX, requirements, platforms } = PLAN_LIMITS;
const BUDGET_PROBLEM = `must be a number of pesos above 0 and at most ${BUDGET_MAX.toLocaleString("en")}, with at most two decimals`;
const NOT_A_NUMBER = "must be a JSON number without quotes or commas, such as 250000";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** The special UUIDs of RFC 9562. */
const NIL_OR_MAX = /^[0-]+$|^[f-]+$/i;

/** The input of a campaign plan: the one schema behind HTTP, the assistants' tool, their descriptions and the service. */
export const planInput = z.strictObject({
  request_id: z
    .string("must be a UUID, as text")
    .regex(UUID, "must be a UUID, 8-4-4-4-12 hexadecimal digits, made at random for this plan")
    .refine((id) => !NIL_OR_MAX.test(id), "must not be the nil or the max UUID")
    .toLowerCase()
    .describe(
      "A new UUID for each plan, made before the first attempt. The same one with the same input tries again, and makes no second plan.",
    ),
  title: text({ min: 1, max: PLAN_LIMITS.title, isOneLine: true, isVisible: true }).describe(
    "The name people recognise the plan by: one line, at least one visible character, no control characters.",
  ),
  goal: text({ min: 1, max: PLAN_LIMITS.goal, isVisible: true }).describe("What the campaign should achieve."),
  campaign_type: z
    .enum(CAMPAIGN_TYPES, `must be one of ${CAMPAIGN_TYPES.join(", ")}`)
    .describe("blitz: clipping, paid per view. ugc: original content. package: influencers. affiliate: tracked promotion, paid per sale."),
  planned_for: date().describe("The planned date, YYYY-MM-DD."),
  review_on: date().describe("The review date, YYYY-MM-DD. Before planned_for, the result warns."),
  planning_budget: z
    // JSON has numbers that are infinite here, such as 1e400.
    .number({ error: ({ input }) => (typeof input === "number" ? BUDGET_PROBLEM : NOT_A_NUMBER) })
    .min(BUDGET_MIN, { error: BUDGET_PROBLEM, abort: true })
    .max(BUDGET_MAX, { error: BUDGET_PROBLEM, abort: true })
    .refine((pesos) => pesosOf(centavosOf(pesos)) === pesos, BUDGET_PROBLEM)
    .describe("Pesos (not centavos), at most two decimals. Nothing is charged."),
  summary: text({ max: PLAN_LIMITS.summary }).optional().describe("The idea in a few sentences."),
  brief: text({ max: PLAN_LIMITS.brief }).optional().describe("Instructions for creators."),
  requirements: list(requirements.entries, { max: requirements.characters })
    .optional()
    .describe("What the content must have, one entry each."),
  platforms: list(platforms.entries, { max: platforms.characters, isOneLine: true })
    .optional()
    .describe("Where creators post the content, such as tiktok."),
  notes: text({ max: PLAN_LIMITS.notes })
    .optional()
    .describe("Notes for the brand's own people in the workspace. Private: never returned."),
});

/** Canonical form: request_id in lower case, empty optional fields absent. */
export type PlanInput = z.output<typeof planInput>;

const FIELDS = Object.keys(planInput.shape) as (keyof PlanInput)[];
const OPTIONAL: ReadonlySet<string> = new Set(
  Object.entries(planInput.shape)
    .filter(([, schema]) => schema.isOptional())
    .map(([name]) => name),
);

/** Returns the fields in which two inputs differ, in the order of the schema. */
export const changedFields = (before: PlanInput, after: PlanInput): string[] =>
  FIELDS.filter((name) => !isDeepStrictEqual(before[name], after[name]));

/** What programs send that cannot leave a field out: models whose schema is strict must name every field. */
const isNothing = (value: unknown): boolean => value == null || value === "" || (Array.isArray(value) && value.length === 0);

/**
 * Parses a plan and reports every problem in one error. null, "" and [] leave an optional field out. The order of the fields
 * does not matter.
 *
 * @throws AppError `invalid_request`; `field` names the first invalid field, `details` all, up to 30
 */
export function parsePlanInput(input: unknown): PlanInput {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw new AppError("invalid_request", "The plan must be one JSON object.");
  }
  const unknown = unknownNames(input, (name) => (FIELDS as readonly string[]).includes(name));
  const present = FIELDS.filter((name) => Object.hasOwn(input, name)).map((name) => [name, (input as Partial<PlanInput>)[name]] as const);
  const known = Object.fromEntries(present.filter(([name, value]) => !(OPTIONAL.has(name) && isNothing(value))));
  const parsed = planInput.safeParse(known);
  if (parsed.success && unknown.length === 0) return parsed.data;
  const problems = (parsed.error?.issues ?? []).map(({ path: [name = "", index], message }) => ({
    field: index === undefined ? String(name) : `${String(name)}[${String(index)}]`,
    message: Object.hasOwn(known, name) ? message : "is required",
  }));
  throw invalidPlan([...problems, ...unknown.map(unknownField)]);
}

const unknownField = (name: string): ProblemDetail => ({
  // Strict JSON readers refuse half an emoji.
  field: name.slice(0, 64).toWellFormed(),
  message: `is not a field of a plan; the fields are ${FIELDS.join(", ")}`,
});

function invalidPlan(problems: readonly ProblemDetail[]): AppError {
  const [first] = problems;
  return new AppError("invalid_request", `${first?.field} ${first?.message}${othersIn(problems)}`, {
    ...(first !== undefined && { field: first.field }),
    details: problems.slice(0, PROBLEMS_MAX),
  });
}
