import { Text } from "@mantine/core";
import type { ReactNode } from "react";
import { fullDayText } from "../../parts/filters/days.ts";
import { Pesos } from "../../parts/pesos.tsx";
import { centavosOf } from "./money.ts";
import { typeText } from "./plan-texts.ts";
import type { PlanField, PlanValue } from "./plan-values.ts";
import { visibleControls } from "./visible-controls.ts";
import styles from "./plans.module.css";

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
      <ol className={styles["entries"]}>
        {value.map((entry, index) => (
          <li key={index}>
            <div className={styles["text"]} dir="auto">
              {visibleControls(entry)}
            </div>
          </li>
        ))}
      </ol>
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
