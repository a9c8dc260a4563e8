import { Group, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { FIELD_NAMES, typeText } from "./plan-texts.ts";
import { visibleControls } from "../../parts/formats.ts";
import type { PlanField, PlanValues, PlanValue } from "./plan-values.ts";
import { STEP_NAMES, STEPS, type StepName } from "./plan-pages.ts";
import styles from "./plans.module.css";
import { fullDayText } from "../../parts/filters/days.ts";
import { Pesos } from "../../parts/pesos.tsx";
import { centavosOf } from "./money.ts";

interface PlanContentsProps {
  readonly values: PlanValues;
  /** Stands at the end of a section's title, such as a link to edit it. */
  actionOf?(step: StepName): ReactNode;
}

const SECTIONS = STEP_NAMES.filter((step) => STEPS[step].fields.length > 0);

/** Everything that a plan says, to read. */
export const PlanContents = ({ values, actionOf }: PlanContentsProps) =>
  SECTIONS.map((step) => (
    <section key={step} className={styles["section"]} aria-labelledby={`contents-${step}`}>
      <Group align="baseline" gap="sm" mb="sm" wrap="nowrap">
        <Text component="h3" id={`contents-${step}`} fw={650}>
          {STEPS[step].title}
        </Text>
        {step === "notes" && (
          <Text size="xs" c="dimmed">
            Only your team sees these
          </Text>
        )}
        {actionOf?.(step)}
      </Group>
      <Stack component="dl" className={styles["contents"] ?? ""} gap="xs" m={0} fz="sm">
        {STEPS[step].fields.map((field) => (
          <div key={field}>
            {/* The title of the section is that of its only field. */}
            <dt className={STEPS[step].fields.length === 1 ? "visually-hidden" : undefined}>{FIELD_NAMES[field]}</dt>
            <dd>
              <FieldValue field={field} value={values[field]} />
            </dd>
          </div>
        ))}
      </Stack>
    </section>
  ));

/**
 * A field's value to read. Texts of people and integrations show as they are: never as HTML, with their line breaks, in their own direction,
 * which no character in them turns.
 */
export function FieldValue({ field, value }: { readonly field: PlanField; readonly value: PlanValue }): ReactNode {
  if (value.length === 0)
    return (
      <Text c="dimmed" inherit>
        None
      </Text>
    );
  if (typeof value !== "string") {
    return (
      <Stack component="ol" gap="var(--space-4)" m={0} ps="lg">
        {value.map((entry, index) => (
          <li key={index}>
            <div className={styles["text"]} dir="auto">
              {visibleControls(entry)}
            </div>
          </li>
        ))}
      </Stack>
    );
  }
  if (field === "campaign_type") return typeText(value);
  if (field === "planned_for" || field === "review_on") return <time dateTime={value}>{fullDayText(value)}</time>;
  const centavos = field === "budget" ? centavosOf(value) : undefined;
  if (centavos !== undefined) return <Pesos centavos={centavos} />;
  return (
    <div className={styles["text"]} dir="auto">
      {visibleControls(value)}
    </div>
  );
}
