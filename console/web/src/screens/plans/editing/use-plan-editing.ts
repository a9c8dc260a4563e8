import type { Plan } from "@brand-records/console-contract";
import { useQueryClient } from "@tanstack/react-query";
import { useReducer, useRef } from "react";
import { query, useBrand, useChange } from "../../../api/queries.ts";
import { changesOf, valuesOf, type PlanField, type PlanValues } from "../plan-values.ts";
import { conflictsOf, rebased, shownValues, unsavedValues, type Choices, type Conflict, type Draft } from "./draft.ts";
import { afterEvent, editsToSave, isEdit, isNewer, isOutdated, startEditing, type Editing } from "./editing.ts";
import { problemsOf, refusedFields } from "./field-problems.ts";
import { announce } from "../../../parts/states.tsx";

/** Saves that meet a change of other fields each are repeated on the newer plan, at most this often. */
const SAVES_MAX = 3;

/** "edited": saved, but the person has edited more while the save was under way. */
export type SaveOutcome = "saved" | "edited" | "conflict" | "refused" | "closed";

export interface PlanEditing extends Omit<Editing, "draft"> {
  /** What the fields show. */
  readonly values: PlanValues;
  /** What the person has edited and not saved. */
  readonly unsaved: Partial<PlanValues>;
  readonly isDirty: boolean;
  /** Where both sides changed a field, each in another way. */
  readonly conflicts: readonly Conflict[];
  edit<Field extends PlanField>(field: Field, mine: PlanValues[Field]): void;
  discard(): void;
  dismissTheirs(): void;
  save(choices?: Choices): Promise<SaveOutcome>;
  /** Shows the plan that a call has returned. */
  adopt(plan: Plan): void;
  /** Shows the plan as it is now, and returns it. Undefined if it cannot be read, or is no newer. */
  readAgain(): Promise<Plan | undefined>;
}

/** The edits of a plan on this page: `editing.ts` has the rules, and this makes the calls. */
export function usePlanEditing(loaded: Plan): PlanEditing {
  const [state, dispatch] = useReducer(afterEvent, loaded, startEditing);
  const { draft, ...shown } = state;
  const { cache, read, update } = usePlanCalls(loaded.id);
  // State would be late: a second press, and an edit, may come before the page is drawn again.
  const isUnderWay = useRef(false);
  const wasEdited = useRef(false);
  if (isNewer(loaded, state.plan) && !state.isSaving) dispatch({ kind: "read", plan: loaded });

  const refuse = (problems: Editing["problems"], error: Error | null): "refused" => {
    dispatch({ kind: "refused", problems, error });
    return "refused";
  };

  /** Saves edits on the newest plan. Changes of others to other fields merge; to the same field they are a conflict. */
  const saveEdits = async (edits: Draft): Promise<SaveOutcome> => {
    const problems = problemsOf(unsavedValues(edits, valuesOf(state.plan)));
    if (Object.keys(problems).length > 0) return refuse(problems, null);
    let [current, mine] = [state.plan, edits];
    for (let left = SAVES_MAX; ; left -= 1) {
      const values = valuesOf(current);
      if (conflictsOf(mine, values).length > 0) return "conflict";
      const sent = unsavedValues(mine, values);
      if (Object.keys(sent).length === 0) return "saved";
      try {
        const plan = await update(current, sent);
        dispatch({ kind: "saved", plan, sent, mine });
        cache(plan);
        return "saved";
      } catch (error) {
        if (left === 1 || !isOutdated(error)) return refuse(refusedFields(error), error as Error);
        const newer = await read();
        if (newer === undefined) return refuse({}, error as Error);
        dispatch({ kind: "outdated", plan: newer, mine });
        if (newer.status !== "pending") return "closed";
        [current, mine] = [newer, rebased(mine, values, valuesOf(newer))];
      }
    }
  };

  const values = valuesOf(state.plan);
  const unsaved = unsavedValues(draft, values);
  return {
    ...shown,
    values: shownValues(draft, values),
    unsaved,
    isDirty: Object.keys(unsaved).length > 0,
    conflicts: conflictsOf(draft, values),
    edit(field, mine) {
      if (isEdit(state, field, mine)) wasEdited.current = true;
      dispatch({ kind: "edited", field, mine });
    },
    discard: () => dispatch({ kind: "discarded" }),
    dismissTheirs: () => dispatch({ kind: "seen" }),
    adopt(plan) {
      dispatch({ kind: "adopted", plan });
      cache(plan);
    },
    async readAgain() {
      const newer = await read();
      if (newer === undefined || !isNewer(newer, state.plan)) return undefined;
      dispatch({ kind: "adopted", plan: newer });
      return newer;
    },
    async save(choices = {}) {
      if (isUnderWay.current) return "refused";
      isUnderWay.current = true;
      wasEdited.current = false;
      dispatch({ kind: "save_started", choices });
      try {
        const outcome = await saveEdits(editsToSave(state, choices));
        if (outcome !== "saved") return outcome;
        announce(wasEdited.current ? "Saved, except what you have edited since" : "Saved");
        return wasEdited.current ? "edited" : "saved";
      } finally {
        isUnderWay.current = false;
        dispatch({ kind: "save_ended" });
      }
    },
  };
}

/** The calls that an edited plan needs. */
function usePlanCalls(id: string) {
  const { ofBrand } = useBrand();
  const client = useQueryClient();
  const { mutateAsync } = useChange("plans.update", ["plans.list"]);
  const planQuery = query("plans.get", { ...ofBrand, plan_id: id });
  return {
    /** @throws CallError */
    async update(plan: Plan, values: Partial<PlanValues>): Promise<Plan> {
      return (await mutateAsync({ ...ofBrand, plan_id: id, expected_revision: plan.revision, changes: changesOf(values) })).plan;
    },
    /** Shows the plan on other pages too, unless they know a newer one. */
    cache(plan: Plan): void {
      client.setQueryData(planQuery.queryKey, (known) => (known !== undefined && isNewer(known.plan, plan) ? known : { plan }));
    },
    /** Reads the plan as it is now; undefined if it cannot be read. */
    async read(): Promise<Plan | undefined> {
      // One that is under way may have been read before the change.
      await client.cancelQueries({ queryKey: planQuery.queryKey });
      return await client.fetchQuery({ ...planQuery, staleTime: 0 }).then(
        ({ plan }) => plan,
        () => undefined,
      );
    },
  };
}
