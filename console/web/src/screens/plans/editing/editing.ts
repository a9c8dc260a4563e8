import type { Plan } from "@brand-records/console-contract";
import { decided, edited, rebased, saved, shownValues, withoutBlanks, type Choices, type Draft } from "./draft.ts";
import type { Problems } from "./field-problems.ts";
import { CallError } from "../../../api/call.ts";
import { differingFields, isSame, valuesOf, type PlanField, type PlanValue, type PlanValues } from "../plan-values.ts";

/** The edits of a plan on a page, and the newest plan that the page knows. */
export interface Editing {
  readonly plan: Plan;
  readonly draft: Draft;
  /** What somebody else changed, until the person has seen it. */
  readonly theirs: TheirChanges | undefined;
  /** What is wrong with the last save, by field. */
  readonly problems: Problems;
  /** Why the last save failed as a whole. */
  readonly error: Error | null;
  /** Counts the refused saves, so that the same problems are shown again. */
  readonly refusals: number;
  readonly isSaving: boolean;
}

export type EditingEvent =
  /** The page has read the plan. */
  | { readonly kind: "read"; readonly plan: Plan }
  /** Another call of this page returned the plan. */
  | { readonly kind: "adopted"; readonly plan: Plan }
  | { readonly kind: "edited"; readonly field: PlanField; readonly mine: PlanValue }
  | { readonly kind: "discarded" }
  | { readonly kind: "seen" }
  | { readonly kind: "save_started"; readonly choices: Choices }
  /** `sent` is saved. `mine`: the edits that the save began with. */
  | { readonly kind: "saved"; readonly plan: Plan; readonly sent: Partial<PlanValues>; readonly mine: Draft }
  /** Somebody else was first. */
  | { readonly kind: "outdated"; readonly plan: Plan; readonly mine: Draft }
  | { readonly kind: "refused"; readonly problems: Problems; readonly error: Error | null }
  | { readonly kind: "save_ended" };

const NO_FAILURE = { problems: {}, error: null };

export const startEditing = (plan: Plan): Editing => ({
  plan,
  draft: {},
  theirs: undefined,
  ...NO_FAILURE,
  refusals: 0,
  isSaving: false,
});

/** What is sent when a person saves now, with a choice for each conflict. */
export const editsToSave = ({ plan, draft }: Editing, choices: Choices): Draft => withoutBlanks(decided(draft, valuesOf(plan), choices));

/** Whether a value differs from what the field shows: a budget that is written in another form is the same. */
export const isEdit = ({ plan, draft }: Editing, field: PlanField, mine: PlanValue): boolean =>
  !isSame(field, mine, shownValues(draft, valuesOf(plan))[field]);

/** Returns the state after an event. A newer plan replaces what is not edited, and nothing that is; an older one changes nothing. */
export function afterEvent(editing: Editing, event: EditingEvent): Editing {
  const { plan, draft, theirs } = editing;
  switch (event.kind) {
    case "read":
      // A save takes what it reads itself: only it knows which changes are its own.
      return editing.isSaving || !isNewer(event.plan, plan) ? editing : onNewerPlan(editing, event.plan, draft);
    case "adopted":
      return isNewer(event.plan, plan) ? onNewerPlan(editing, event.plan, draft) : editing;
    case "edited":
      return { ...editing, draft: edited(draft, valuesOf(plan), event.field, event.mine) };
    case "discarded":
      return { ...editing, draft: {}, ...NO_FAILURE };
    case "seen":
      return { ...editing, theirs: undefined };
    case "save_started": {
      const unseen = theirs && { ...theirs, fields: theirs.fields.filter((field) => event.choices[field] === undefined) };
      return { ...editing, draft: editsToSave(editing, event.choices), theirs: unseen, ...NO_FAILURE, isSaving: true };
    }
    case "saved": {
      const after = withPlan(editing, event.plan, event.mine);
      return { ...after, draft: saved(draft, event.sent) };
    }
    case "outdated":
      return onNewerPlan(editing, event.plan, event.mine);
    case "refused":
      return { ...editing, problems: event.problems, error: event.error, refusals: editing.refusals + 1 };
    case "save_ended":
      return { ...editing, isSaving: false };
  }
}

/** @param mine edits of this page: what else differs from the plan before was somebody else */
const withPlan = (editing: Editing, plan: Plan, mine: Draft): Editing =>
  isNewer(plan, editing.plan) ? { ...editing, plan, theirs: theirChanges(editing.plan, plan, mine, editing.theirs) } : editing;

const onNewerPlan = (editing: Editing, plan: Plan, mine: Draft): Editing => ({
  ...withPlan(editing, plan, mine),
  draft: rebased(editing.draft, valuesOf(editing.plan), valuesOf(plan)),
});

/** What somebody else changed while the page showed the plan. */
interface TheirChanges {
  readonly fields: readonly PlanField[];
  /** An e-mail address. */
  readonly by: string | null;
  readonly at: string;
}

/** Whether a response is of a later state: those of simultaneous requests arrive in any order. */
export const isNewer = (plan: Plan, than: Plan): boolean =>
  plan.revision > than.revision || (plan.revision === than.revision && plan.status !== "pending" && than.status === "pending");

/** What a newer plan has that the page did not show, and that is no edit of this page; added to what is not dismissed yet. */
function theirChanges(before: Plan, after: Plan, draft: Draft, earlier: TheirChanges | undefined): TheirChanges | undefined {
  const values = valuesOf(after);
  const fields = differingFields(valuesOf(before), values).filter((field) => {
    const mine = draft[field]?.mine;
    return mine === undefined || !isSame(field, mine, values[field]);
  });
  if (fields.length === 0) return earlier;
  return { fields: [...new Set([...(earlier?.fields ?? []), ...fields])], by: after.edited_by, at: after.edited_at ?? after.updated_at };
}

/** Somebody else has changed the plan since this page read it. */
export const isChanged = (error: unknown): boolean => error instanceof CallError && error.code === "plan_changed";

/** Somebody else has changed or closed the plan: the page must read it again. */
export const isOutdated = (error: unknown): boolean =>
  isChanged(error) || (error instanceof CallError && error.code === "plan_not_pending");
