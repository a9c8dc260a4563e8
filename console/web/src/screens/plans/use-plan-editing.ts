import type { Plan } from "@brand-records/console-contract";
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { query, useChange } from "../../api/queries.ts";
import { announce } from "../../parts/status-region.tsx";
import { useBrand } from "../../shell/brand.tsx";
import {
  conflictsOf,
  decided,
  edited,
  rebased,
  saved,
  shownValues,
  unsavedValues,
  withoutBlanks,
  type Choices,
  type Conflict,
  type Draft,
} from "./draft.ts";
import { problemsOf, refusedFields, type Problems } from "./field-problems.ts";
import { isOutdated } from "./outdated.ts";
import { changesOf, valuesOf, type PlanField, type PlanValues } from "./plan-values.ts";
import type { StepProps } from "./step.ts";
import { isNewer, theirChanges, type TheirChanges } from "./their-changes.ts";

/** Saves that meet a change of other fields each are repeated on the newer plan, at most this often. */
const SAVES_MAX = 3;

/** "edited": saved, but the person has edited more while the save was under way. */
export type SaveOutcome = "saved" | "edited" | "conflict" | "refused" | "closed";

export interface PlanEditing extends StepProps {
  /** The newest state that the page knows. */
  readonly plan: Plan;
  /** What the person has edited and not saved. */
  readonly unsaved: Partial<PlanValues>;
  readonly isDirty: boolean;
  readonly isSaving: boolean;
  /** Why the last save failed as a whole. */
  readonly error: Error | null;
  /** Where both sides changed a field, each in another way. */
  readonly conflicts: readonly Conflict[];
  readonly theirs: TheirChanges | undefined;
  dismissTheirs(): void;
  /** Counts the refused saves, so that the same problems are shown again. */
  readonly refusals: number;
  save(choices?: Choices): Promise<SaveOutcome>;
  discard(): void;
  /** Shows the plan that a call has returned. */
  adopt(plan: Plan): void;
  /** Shows the plan as it is now, and returns it. Undefined if it cannot be read, or is no newer. */
  readAgain(): Promise<Plan | undefined>;
}

/** The edits of a plan on this page, on the newest plan it knows. A newer one replaces what is not edited, and nothing that is. */
export function usePlanEditing(loaded: Plan): PlanEditing {
  const { ofBrand } = useBrand();
  const client = useQueryClient();
  const [plan, setPlan] = useState(loaded);
  const [draft, setDraft] = useState<Draft>({});
  const [theirs, setTheirs] = useState<TheirChanges>();
  const [failure, setFailure] = useState<{ readonly problems: Problems; readonly error: Error | null }>(NONE);
  const [refusals, setRefusals] = useState(0);
  const [isSaving, setIsSaving] = useState(false);
  const saving = useRef(false);
  const wasEdited = useRef(false);
  const update = useChange("plans.update", ["plans.list"]);
  const planQuery = query("plans.get", { ...ofBrand, plan_id: plan.id });

  /** Shows a newer plan. What differs from the one before and is no edit of `mine` was somebody else. */
  const take = (before: Plan, newer: Plan, mine: Draft): void => {
    setPlan(newer);
    setTheirs((earlier) => theirChanges(before, newer, mine, earlier));
  };
  // A save under way takes what it gets itself: only it knows which changes are its own.
  if (isNewer(loaded, plan) && !isSaving) {
    take(plan, loaded, draft);
    setDraft(rebased(draft, valuesOf(loaded)));
  }
  const values = valuesOf(plan);
  const unsaved = unsavedValues(draft);

  const cache = (newer: Plan): void => {
    client.setQueryData(planQuery.queryKey, (known) => (known !== undefined && isNewer(known.plan, newer) ? known : { plan: newer }));
  };
  const readAgain = async (): Promise<Plan | undefined> => {
    // One that is under way may have been read before the change.
    await client.cancelQueries({ queryKey: planQuery.queryKey });
    return await client.fetchQuery({ ...planQuery, staleTime: 0 }).then(
      (read) => read.plan,
      () => undefined,
    );
  };
  const refuse = (problems: Problems, error: Error | null): "refused" => {
    setFailure({ problems, error });
    setRefusals((count) => count + 1);
    return "refused";
  };

  /** Saves edits on the newest plan. Changes of others to other fields merge; to the same field they are a conflict. */
  const saveEdits = async (edits: Draft): Promise<SaveOutcome> => {
    let [current, rest] = [plan, edits];
    for (let left = SAVES_MAX; ; left -= 1) {
      if (conflictsOf(rest, valuesOf(current)).length > 0) return "conflict";
      const sent = unsavedValues(rest);
      if (Object.keys(sent).length === 0) return "saved";
      try {
        const input = { ...ofBrand, plan_id: plan.id, expected_revision: current.revision, changes: changesOf(sent) };
        const { plan: newer } = await update.mutateAsync(input);
        take(current, newer, rest);
        setDraft((draft) => saved(draft, sent));
        cache(newer);
        return "saved";
      } catch (error) {
        if (left === 1 || !isOutdated(error)) return refuse(refusedFields(error), error as Error);
        const newer = await readAgain();
        if (newer === undefined) return refuse({}, error as Error);
        take(current, newer, rest);
        if (newer.status !== "pending") return "closed";
        setDraft((draft) => rebased(draft, valuesOf(newer)));
        [current, rest] = [newer, rebased(rest, valuesOf(newer))];
      }
    }
  };

  return {
    plan,
    values: shownValues(draft, values),
    problems: failure.problems,
    error: failure.error,
    refusals,
    unsaved,
    isDirty: Object.keys(unsaved).length > 0,
    isSaving,
    conflicts: conflictsOf(draft, values),
    theirs,
    dismissTheirs: () => setTheirs(undefined),
    adopt(newer) {
      take(plan, newer, draft);
      cache(newer);
    },
    async readAgain() {
      const newer = await readAgain();
      if (newer === undefined || !isNewer(newer, plan)) return undefined;
      take(plan, newer, draft);
      return newer;
    },
    edit<Field extends PlanField>(field: Field, mine: PlanValues[Field]) {
      wasEdited.current = true;
      setDraft((draft) => edited(draft, values, field, mine));
    },
    discard() {
      setDraft({});
      setFailure(NONE);
    },
    async save(choices = {}) {
      // A second press while the first is under way.
      if (saving.current) return "refused";
      setFailure(NONE);
      const edits = withoutBlanks(decided(draft, values, choices));
      setDraft(edits);
      // The person has seen them.
      setTheirs((shown) => shown && { ...shown, fields: shown.fields.filter((field) => choices[field] === undefined) });
      const problems = problemsOf(unsavedValues(edits));
      if (Object.keys(problems).length > 0) return refuse(problems, null);
      saving.current = true;
      wasEdited.current = false;
      setIsSaving(true);
      try {
        const outcome = await saveEdits(edits);
        if (outcome === "saved") announce(wasEdited.current ? "Saved, except what you have edited since" : "Saved");
        return outcome === "saved" && wasEdited.current ? "edited" : outcome;
      } finally {
        saving.current = false;
        setIsSaving(false);
      }
    },
  };
}

const NONE = { problems: {}, error: null };
