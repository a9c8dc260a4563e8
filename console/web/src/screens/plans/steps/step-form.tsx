import { Button, Group, TextInput } from "@mantine/core";
import type { ComponentType } from "react";
import { ButtonLink } from "../../../parts/links.tsx";
import { FormError, Hint, Notice } from "../../../parts/states.tsx";
import type { PlanEditing } from "../editing/use-plan-editing.ts";
import { loadedPart } from "../../../parts/loaded-part.tsx";
import { STEP_NAMES, type StepName } from "../plan-pages.ts";
import styles from "../plans.module.css";
import { ErrorSummary, PlanForm } from "./error-summary.tsx";
import { type StepProps, fieldId } from "./step.ts";
import { Pesos } from "../../../parts/pesos.tsx";
import { centavosOf, pesosText } from "../money.ts";
import { FIELD_NAMES } from "../plan-texts.ts";
import { TextField } from "./text-field.tsx";

const NotesStep = (props: StepProps) => (
  <>
    <Notice>
      <strong>Only your team sees these.</strong> No integration can read them, not even the one that prepared the plan.
    </Notice>
    <TextField {...props} field="notes" help="For your brand’s own people" rows={8} />
  </>
);

/** Pesos as text: number fields refuse or change "1,234,567.50" when it is pasted. What was read from it shows beneath. */
function BudgetStep({ values: { budget }, problems, edit }: StepProps) {
  const centavos = centavosOf(budget);
  return (
    <TextInput
      id={fieldId("budget")}
      label={`${FIELD_NAMES.budget} in pesos`}
      leftSection={<span aria-hidden="true">₱</span>}
      description={
        <>
          {centavos !== undefined && pesosText(centavos) !== budget && (
            <>
              <Pesos centavos={centavos} />.{" "}
            </>
          )}
          A figure to plan with: nothing is charged.
        </>
      }
      error={problems["budget"]}
      value={budget}
      required
      inputMode="decimal"
      autoComplete="off"
      maw={280}
      styles={{ description: { width: "max-content", maxWidth: "min(var(--line-length), 80vw)" } }}
      onChange={({ currentTarget: { value } }) => edit("budget", value)}
      // An amount shows as amounts do; anything else stays to be corrected.
      onBlur={() => {
        if (centavos !== undefined && pesosText(centavos) !== budget) edit("budget", pesosText(centavos));
      }}
    />
  );
}

const BasicsStep = loadedPart(async () => (await import("./basics.tsx")).BasicsStep);
const CreativeStep = loadedPart(async () => (await import("./creative.tsx")).CreativeStep);

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
    <PlanForm onSubmit={onSave}>
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
        {isDirty && <Hint>{isPartlySaved && !isSaving ? "Saved, except what you have edited since: save again" : "Unsaved edits"}</Hint>}
      </Group>
    </PlanForm>
  );
}
