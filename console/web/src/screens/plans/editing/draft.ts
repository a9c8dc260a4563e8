import { isSame, PLAN_FIELDS, type PlanField, type PlanValue, type PlanValues } from "../plan-values.ts";

interface Edit {
  readonly mine: PlanValue;
  /** What the field had when it was edited first. If the plan now has another value, another person has changed it since. */
  readonly base: PlanValue;
}

/** What a person has edited and not saved. Fields without an edit show the plan's own, newest value. */
export type Draft = { readonly [Field in PlanField]?: Edit };

/** A field that two people have changed, each in another way. */
export interface Conflict {
  readonly field: PlanField;
  readonly mine: PlanValue;
  readonly theirs: PlanValue;
}

export type Choices = { readonly [Field in PlanField]?: "mine" | "theirs" };

/** A choice, and the value of theirs that it was made against. */
export interface MadeChoice {
  readonly side: "mine" | "theirs";
  readonly theirs: PlanValue;
}

/** Returns the choices that still hold: if theirs has changed since, the person has not seen it. */
export const standingChoices = (conflicts: readonly Conflict[], made: { readonly [Field in PlanField]?: MadeChoice }): Choices =>
  Object.fromEntries(
    conflicts.flatMap(({ field, theirs }) => {
      const choice = made[field];
      return choice !== undefined && isSame(field, choice.theirs, theirs) ? [[field, choice.side]] : [];
    }),
  );

const draftOf = (entries: readonly (readonly [PlanField, Edit])[]): Draft => Object.fromEntries(entries);
const entriesOf = (draft: Draft): (readonly [PlanField, Edit])[] =>
  PLAN_FIELDS.flatMap((field) => {
    const edit = draft[field];
    return edit === undefined ? [] : [[field, edit] as const];
  });

export const edited = <Field extends PlanField>(draft: Draft, plan: PlanValues, field: Field, mine: PlanValues[Field]): Draft => ({
  ...draft,
  [field]: { mine, base: draft[field]?.base ?? plan[field] },
});

/** What the fields show. */
export const shownValues = (draft: Draft, plan: PlanValues): PlanValues =>
  Object.assign({}, plan, Object.fromEntries(entriesOf(draft).map(([field, { mine }]) => [field, mine])));

/** Leaves out the entries of lists that were left empty, unless the plan was prepared with empty ones. */
export const withoutBlanks = (draft: Draft): Draft =>
  draftOf(
    entriesOf(draft).map(([field, { mine, base }]) => {
      if (typeof mine === "string" || typeof base === "string" || base.some(isBlank)) return [field, { mine, base }];
      return [field, { mine: mine.filter((entry) => !isBlank(entry)), base }];
    }),
  );

const isBlank = (entry: string): boolean => entry.trim() === "";

/** What the plan had before somebody else changed it is an edit too, if it is typed again since. */
const isUnsaved = ([field, { mine }]: readonly [PlanField, Edit], plan: PlanValues): boolean => !isSame(field, mine, plan[field]);

/** The fields whose edits differ from the plan, with their values. */
export const unsavedValues = (draft: Draft, plan: PlanValues): Partial<PlanValues> =>
  Object.fromEntries(
    entriesOf(withoutBlanks(draft))
      .filter((entry) => isUnsaved(entry, plan))
      .map(([field, { mine }]) => [field, mine]),
  );

/** The draft on a newer plan: edits that it has already, and those that changed nothing of the plan `before`, are dropped. */
export const rebased = (draft: Draft, before: PlanValues, plan: PlanValues): Draft =>
  draftOf(entriesOf(draft).filter((entry) => isUnsaved(entry, before) && isUnsaved(entry, plan)));

/**
 * The draft after its values were saved: what was typed meanwhile is an edit of what was saved. It is compared with what was sent: the service
 * may store that in another form.
 */
export const saved = (draft: Draft, sent: Partial<PlanValues>): Draft =>
  draftOf(
    entriesOf(draft).flatMap(([field, edit]) => {
      const base = sent[field];
      if (base === undefined) return [[field, edit]];
      return isSame(field, edit.mine, base) ? [] : [[field, { ...edit, base }]];
    }),
  );

/** Fields that the person and somebody else have changed, each in another way. Others merge: each side's change is kept. */
export const conflictsOf = (draft: Draft, plan: PlanValues): Conflict[] =>
  entriesOf(withoutBlanks(draft))
    .filter((entry) => isUnsaved(entry, plan))
    .filter(([field, { base }]) => !isSame(field, plan[field], base))
    .map(([field, { mine }]) => ({ field, mine, theirs: plan[field] }));

/** The draft with a decision for each conflict: "mine" is now an edit of what the plan has, "theirs" is no edit. */
export const decided = (draft: Draft, plan: PlanValues, choices: Choices): Draft =>
  draftOf(
    entriesOf(draft)
      .filter(([field]) => choices[field] !== "theirs")
      .map(([field, edit]) => [field, choices[field] === "mine" ? { ...edit, base: plan[field] } : edit]),
  );
