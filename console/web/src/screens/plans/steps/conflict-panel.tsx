import { Button, Group, Radio, Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { announce, FormError } from "../../../parts/states.tsx";
import { When } from "../../../parts/when.tsx";
import { standingChoices, type Choices, type Conflict, type MadeChoice } from "../editing/draft.ts";
import { ErrorSummary, PlanForm } from "./error-summary.tsx";
import { FieldValue } from "../plan-contents.tsx";
import { FIELD_NAMES } from "../plan-texts.ts";
import type { PlanValue } from "../plan-values.ts";
import styles from "../plans.module.css";
import { fieldId } from "./step.ts";
import type { PlanEditing } from "../editing/use-plan-editing.ts";
import { useMe } from "../../../api/queries.ts";

interface ConflictPanelProps {
  readonly editing: PlanEditing;
  onChoose(choices: Choices): void;
  /** Drops what the person has edited in the fields of the conflict, and elsewhere. */
  onDiscard(): void;
}

/** Two people have changed the same fields: shows both, and saves what is chosen for each. Nothing is chosen at first. */
export function ConflictPanel({ editing, onChoose, onDiscard }: ConflictPanelProps) {
  const { plan, conflicts, isSaving, error } = editing;
  const { email } = useMe();
  const [made, setMade] = useState<{ readonly [Field in Conflict["field"]]?: MadeChoice }>({});
  const choices = standingChoices(conflicts, made);
  const [missing, setMissing] = useState<{ readonly fields: readonly string[]; readonly attempt: number }>({ fields: [], attempt: 0 });
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const who = plan.edited_by === email ? "You, in another tab" : (plan.edited_by ?? "Another person");
  const open = missing.fields.filter((field) => choices[field as Conflict["field"]] === undefined);

  const submit = (): void => {
    const unchosen = conflicts.map(({ field }) => field).filter((field) => choices[field] === undefined);
    setMissing(({ attempt }) => ({ fields: unchosen, attempt: attempt + 1 }));
    if (unchosen.length === 0) onChoose(choices);
  };
  return (
    <PlanForm onSubmit={submit}>
      <div>
        <Text component="h2" ref={heading} tabIndex={-1} fw={650} fz="var(--size-title)" className="page-title breakable">
          Choose what to keep
        </Text>
        <Text size="sm" c="dimmed" className="breakable">
          {who} changed the same {conflicts.length === 1 ? "field" : "fields"} while you edited the plan
          <When before=", " at={plan.edited_at} isBrief />. Everything else from both of you is kept.
        </Text>
      </div>
      <ErrorSummary problems={Object.fromEntries(open.map((field) => [field, "choose one of the two"]))} attempt={missing.attempt} />
      {conflicts.map(({ field, mine, theirs }) => (
        <Radio.Group
          key={field}
          id={fieldId(field)}
          tabIndex={-1}
          label={FIELD_NAMES[field]}
          error={open.includes(field) && "Choose one of the two"}
          value={choices[field] ?? null}
          onChange={(side) => setMade({ ...made, [field]: { side, theirs } })}
        >
          <div className={styles["sides"]}>
            {side("theirs", "Theirs", who, field, theirs)}
            {side("mine", "Mine", "You, not saved yet", field, mine)}
          </div>
        </Radio.Group>
      ))}
      <FormError
        error={error}
        fields={Object.keys(editing.problems)}
        unknownOutcome="It may have been saved all the same. Save again: that does no harm."
      />
      <Group className={styles["buttons"] ?? ""}>
        <Button type="submit" aria-busy={isSaving}>
          {isSaving ? "Saving…" : "Save my choices"}
        </Button>
        <Button
          variant="default"
          onClick={() => {
            onDiscard();
            announce("Your edits were discarded");
          }}
        >
          Discard all my edits
        </Button>
      </Group>
    </PlanForm>
  );
}

/** @param who whose value it is */
const side = (value: "mine" | "theirs", label: string, who: string, field: Conflict["field"], shown: PlanValue) => (
  <div className={styles["side"]}>
    {/* An address is one long word. */}
    <Radio value={value} label={label} description={<span className="breakable">{who}</span>} />
    {/* A long text scrolls, so the keyboard must reach it. */}
    <div className={styles["sideValue"]} tabIndex={0} role="group" aria-label={`${label}: ${FIELD_NAMES[field]}`}>
      <FieldValue field={field} value={shown} />
    </div>
  </div>
);
