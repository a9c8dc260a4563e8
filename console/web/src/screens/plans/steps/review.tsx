import { Button, Checkbox, Group, Text } from "@mantine/core";
import { useRef, useState } from "react";
import { useBrand, useChange } from "../../../api/queries.ts";
import { AnchorLink, ButtonLink } from "../../../parts/links.tsx";
import { announce, FormError, Notice } from "../../../parts/states.tsx";
import { CONFIRMATIONS, isConfirmed, type Confirmations } from "./confirmations.ts";
import { ErrorSummary, PlanForm } from "./error-summary.tsx";
import { problemName } from "../editing/field-problems.ts";
import { isOutdated } from "../editing/editing.ts";
import { PlanContents } from "../plan-contents.tsx";
import { STEPS } from "../plan-pages.ts";
import { fieldList } from "../plan-texts.ts";
import { valuesOf, type PlanField } from "../plan-values.ts";
import styles from "../plans.module.css";
import { fieldId } from "./step.ts";
import type { PlanEditing } from "../editing/use-plan-editing.ts";

interface ReviewStepProps {
  readonly editing: PlanEditing;
  readonly confirmations: Confirmations;
  onConfirm(confirmations: Confirmations): void;
  /** Somebody else had changed the plan: it is shown now, in this revision. */
  onRefused(revision: number): void;
  onSave(): void;
  onDiscard(): void;
}

/** Everything to read once more, three confirmations, and the completion. */
export function ReviewStep({ editing, confirmations, onConfirm, onRefused, onSave, onDiscard }: ReviewStepProps) {
  const { plan, isDirty, adopt, readAgain } = editing;
  const { ofBrand } = useBrand();
  const complete = useChange("plans.complete", ["plans.list"]);
  const [attempt, setAttempt] = useState(0);
  const unsaved = useRef<HTMLDivElement>(null);
  const missing = CONFIRMATIONS.filter(({ name }) => !isConfirmed(confirmations, plan, name));
  const wasCleared = confirmations.revision !== plan.revision && confirmations.names.length > 0;
  const problems = attempt === 0 ? {} : Object.fromEntries(missing.map(({ name }) => [name, "Confirm it first"]));

  const submit = async (): Promise<void> => {
    if (complete.isPending) return;
    if (isDirty) return unsaved.current?.focus();
    if (missing.length > 0) return setAttempt((count) => count + 1);
    setAttempt(0);
    const input = { ...ofBrand, plan_id: plan.id, expected_revision: plan.revision };
    try {
      adopt((await complete.mutateAsync({ ...input, confirmed_pay: true, confirmed_rights: true, confirmed_funding: true })).plan);
      announce("Plan completed");
    } catch (error) {
      const newer = isOutdated(error) ? await readAgain() : undefined;
      if (newer === undefined) return;
      // A notice says what has changed, and the boxes are empty again.
      complete.reset();
      onRefused(newer.revision);
    }
  };
  return (
    <PlanForm onSubmit={() => void submit()}>
      <ErrorSummary
        problems={problems}
        attempt={attempt}
        nameOf={(name) => CONFIRMATIONS.find((known) => known.name === name)?.text ?? ""}
      />
      {isDirty && (
        <div ref={unsaved} tabIndex={-1} role="group" aria-label="Unsaved edits" className="page-title breakable">
          <UnsavedEdits editing={editing} onSave={onSave} onDiscard={onDiscard} />
        </div>
      )}
      <PlanContents
        values={valuesOf(plan)}
        actionOf={(step) => (
          <AnchorLink to="." search={{ step }} size="sm" ms="auto">
            Edit<span className="visually-hidden"> {STEPS[step].title}</span>
          </AnchorLink>
        )}
      />
      <fieldset className={styles["confirmations"]}>
        <Text component="legend" fw={650}>
          Confirm, then complete
        </Text>
        {wasCleared && <Text size="sm">The plan was edited after you confirmed. Look at it again, then confirm once more.</Text>}
        {CONFIRMATIONS.map(({ name, text, description }) => (
          <Checkbox
            key={name}
            id={fieldId(name)}
            label={text}
            description={description}
            error={problems[name]}
            checked={isConfirmed(confirmations, plan, name)}
            onChange={({ currentTarget: { checked } }) => {
              const others = CONFIRMATIONS.map((known) => known.name).filter(
                (known) => known !== name && isConfirmed(confirmations, plan, known),
              );
              onConfirm({ revision: plan.revision, names: checked ? [...others, name] : others });
            }}
          />
        ))}
      </fieldset>
      <Notice>
        <strong>Completing publishes, funds and pays nothing.</strong> It records that your team agrees with the plan. Afterwards, the plan
        cannot be edited or cancelled.
      </Notice>
      <FormError error={complete.error} unknownOutcome="It may have been completed all the same. Trying again does no harm." />
      <Group className={styles["buttons"] ?? ""}>
        <Button type="submit" aria-busy={complete.isPending}>
          {complete.isPending ? "Completing…" : "Complete plan"}
        </Button>
        <ButtonLink variant="subtle" to="." search={{ step: "notes" }}>
          Back
        </ButtonLink>
      </Group>
    </PlanForm>
  );
}

/** What the review does not show: only what is saved is completed. */
const UnsavedEdits = ({
  editing: { unsaved, problems, error, isSaving },
  onSave,
  onDiscard,
}: Pick<ReviewStepProps, "editing" | "onSave" | "onDiscard">) => (
  <Notice tone="waiting">
    <Text size="sm">
      Your edits of {fieldList(Object.keys(unsaved) as PlanField[])} are not saved, and not shown below. Save or discard them before you
      complete the plan.
    </Text>
    {Object.entries(problems).map(([name, problem]) => (
      <Text key={name} size="sm">
        {problemName(name)}: {problem}
      </Text>
    ))}
    <FormError
      error={error}
      fields={Object.keys(problems)}
      unknownOutcome="They may have been saved all the same. Save again: that does no harm."
    />
    <Group mt="xs">
      <Button size="xs" onClick={onSave} aria-busy={isSaving}>
        {isSaving ? "Saving…" : "Save edits"}
      </Button>
      <Button size="xs" variant="default" onClick={onDiscard}>
        Discard edits
      </Button>
    </Group>
  </Notice>
);
