import { Button, Group, Text } from "@mantine/core";
import type { ComponentType } from "react";
import { ButtonLink } from "../../../parts/links.tsx";
import { FormError } from "../../../parts/states.tsx";
import type { PlanEditing } from "../editing/use-plan-editing.ts";
import { loadedPart } from "../../../parts/loaded-part.tsx";
import { STEP_NAMES, type StepName } from "../plan-steps.ts";
import styles from "../plans.module.css";
import { BudgetStep } from "./budget.tsx";
import { ErrorSummary } from "./error-summary.tsx";
import { NotesStep } from "./notes.tsx";
import type { StepProps } from "./step.ts";

const BasicsStep = loadedPart(async () => (await import("./basics.tsx")).BasicsStep);
const CreativeStep = loadedPart(async () => (await import("./creative.tsx")).CreativeStep);

/** The steps that are loaded on their own. */
export const STEP_PARTS = [BasicsStep, CreativeStep];

const FIELDS: Readonly<Record<Exclude<StepName, "review">, ComponentType<StepProps>>> = {
  basics: BasicsStep,
  budget: BudgetStep,
  creative: CreativeStep,
  notes: NotesStep,
};

interface StepFormProps {
  readonly step: Exclude<StepName, "review">;
  readonly editing: PlanEditing;
  /** The last save took a while, and the person has edited more meanwhile. */
  readonly isPartlySaved: boolean;
  onSave(): void;
}

/** The fields of one step, which are saved together. */
export function StepForm({ step, editing, isPartlySaved, onSave }: StepFormProps) {
  const { problems, refusals, error, isDirty, isSaving } = editing;
  const Fields = FIELDS[step];
  const before = STEP_NAMES[STEP_NAMES.indexOf(step) - 1];
  return (
    <form
      className={styles["fields"]}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSave();
      }}
    >
      <ErrorSummary problems={problems} attempt={refusals} />
      <Fields {...editing} />
      <FormError
        error={error}
        fields={Object.keys(problems)}
        unknownOutcome="It may have been saved all the same. Save again: that does no harm."
      />
      <Group className={styles["buttons"] ?? ""}>
        <Button type="submit" aria-busy={isSaving}>
          {isSaving ? "Saving…" : "Save and continue"}
        </Button>
        {before !== undefined && (
          <ButtonLink variant="subtle" to="." search={{ step: before }}>
            Back
          </ButtonLink>
        )}
        {isDirty && (
          <Text size="sm" c="dimmed">
            {isPartlySaved && !isSaving ? "Saved, except what you have edited since: save again" : "Unsaved edits"}
          </Text>
        )}
      </Group>
    </form>
  );
}
