import { isDeepStrictEqual } from "node:util";
import { centavosOf, parsePlanInput, pesosOf, type PlanInput } from "@brand-records/resources";
import { AppError } from "@brand-records/errors";
import { planChanged, planNotPending, type Plan, type WorkspacePlan } from "./plan.ts";

const FIELDS_OF_PLAN = [
  "title",
  "goal",
  "campaign_type",
  "planned_for",
  "review_on",
  "planning_budget_centavos",
  "summary",
  "brief",
  "requirements",
  "platforms",
] as const satisfies (keyof Plan)[];

/** What people edit in the workspace. Optional texts that are empty are null. */
export type PlanContent = Pick<Plan, (typeof FIELDS_OF_PLAN)[number]> & Pick<WorkspacePlan, "notes">;

/** Values as a caller gives them, unchecked. */
interface UncheckedContent {
  readonly planning_budget_centavos: number;
  readonly requirements: readonly string[];
  readonly platforms: readonly string[];
  /** Texts. "" and null leave an optional one out. */
  readonly [name: string]: unknown;
}

/** The fields to change. "" and an empty list clear an optional one. */
export type PlanChanges = Partial<UncheckedContent>;

/** Parses a plan with the schema that the gateway uses. An empty list leaves its field out. @throws AppError `invalid_request` */
export function parseContent({ planning_budget_centavos: centavos, requirements, platforms, ...texts }: UncheckedContent): PlanInput {
  return parsePlanInput({
    ...texts,
    planning_budget: pesosOf(centavos),
    ...(requirements.length > 0 && { requirements }),
    ...(platforms.length > 0 && { platforms }),
  });
}

export const contentOf = (input: PlanInput): PlanContent => ({
  title: input.title,
  goal: input.goal,
  campaign_type: input.campaign_type,
  planned_for: input.planned_for,
  review_on: input.review_on,
  planning_budget_centavos: centavosOf(input.planning_budget),
  summary: input.summary ?? null,
  brief: input.brief ?? null,
  requirements: input.requirements ?? [],
  platforms: input.platforms ?? [],
  notes: input.notes ?? null,
});

/**
 * Returns the plan's content with the changes, or undefined if it already has them: a repeated save is no conflict.
 *
 * @param expectedRevision the one that the changes were made on
 * @throws AppError `invalid_request` that names every field beyond the bounds of a new plan; `plan_not_pending`; `plan_changed`
 */
export function editedContent(before: WorkspacePlan, expectedRevision: number, changes: PlanChanges): PlanContent | undefined {
  const content = currentContent(before);
  const edited = contentOf(parseEdited({ ...content, ...changes, request_id: before.plan.request_id }));
  if (isDeepStrictEqual(edited, content)) return undefined;
  if (before.plan.status !== "pending") throw planNotPending(before.plan);
  if (before.revision !== expectedRevision) throw planChanged(before, expectedRevision);
  return edited;
}

const currentContent = ({ plan, notes }: WorkspacePlan): PlanContent =>
  ({ ...Object.fromEntries(FIELDS_OF_PLAN.map((name) => [name, plan[name]])), notes }) as PlanContent;

/** Values in the order of the columns in every statement that writes them: title, goal, campaign_type, …, notes. */
export const contentValues = (content: PlanContent): unknown[] => [...FIELDS_OF_PLAN.map((name) => content[name]), content.notes];

/** Names the budget as the workspace does: in requests of integrations it is in pesos. */
function parseEdited(content: UncheckedContent): PlanInput {
  try {
    return parseContent(content);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const rename = (field: string): string => (field === "planning_budget" ? "planning_budget_centavos" : field);
    throw new AppError(error.kind, error.message.replace(/^planning_budget\b/, rename), {
      ...(error.field !== undefined && { field: rename(error.field) }),
      ...(error.details !== undefined && { details: error.details.map(({ field, message }) => ({ field: rename(field), message })) }),
      cause: error,
    });
  }
}
