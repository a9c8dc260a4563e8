import { Text } from "@mantine/core";
import type { ReactNode } from "react";
import { FieldValue } from "./field-value.tsx";
import { FIELD_NAMES, STEP_TITLES } from "./plan-texts.ts";
import type { PlanField, PlanValues } from "./plan-values.ts";
import { STEPS, type StepName } from "./plan-steps.ts";
import styles from "./plans.module.css";

interface PlanContentsProps {
  readonly values: PlanValues;
  /** Stands at the end of a section's title, such as a link to edit it. */
  actionOf?(step: StepName): ReactNode;
}

const SECTIONS = (Object.entries(STEPS) as [StepName, readonly PlanField[]][]).filter(([, fields]) => fields.length > 0);

/** Everything that a plan says, to read. */
export const PlanContents = ({ values, actionOf }: PlanContentsProps) =>
  SECTIONS.map(([step, fields]) => (
    <section key={step} className={styles["section"]} aria-labelledby={`contents-${step}`}>
      <div className={styles["sectionTitle"]}>
        <Text component="h3" id={`contents-${step}`} fw={650}>
          {STEP_TITLES[step]}
        </Text>
        {step === "notes" && (
          <Text size="xs" c="dimmed">
            Only your team sees these
          </Text>
        )}
        {actionOf?.(step)}
      </div>
      <dl className={styles["contents"]}>
        {fields.map((field) => (
          <div key={field}>
            {/* The title of the section is that of its only field. */}
            <dt className={fields.length === 1 ? "visually-hidden" : undefined}>{FIELD_NAMES[field]}</dt>
            <dd>
              <FieldValue field={field} value={values[field]} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  ));
