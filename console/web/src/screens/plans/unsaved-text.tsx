import { Text } from "@mantine/core";
import { CopyableText } from "../../parts/copyable.tsx";
import { FIELD_NAMES } from "./plan-texts.ts";
import type { PlanField, PlanValue, PlanValues } from "./plan-values.ts";
import styles from "./plans.module.css";

const asText = (value: PlanValue): string => (typeof value === "string" ? value : value.join("\n"));

/** What can no longer be saved, to be copied. */
export const UnsavedText = ({ unsaved }: { readonly unsaved: Partial<PlanValues> }) => (
  <section className={styles["panel"]} aria-labelledby="unsaved">
    <div>
      <Text id="unsaved" component="h2" fw={650} fz="1.125rem">
        What you had not saved
      </Text>
      <Text size="sm" c="dimmed">
        The plan was closed while you edited it. Copy what you still need: it is kept on this page only.
      </Text>
    </div>
    {(Object.entries(unsaved) as [PlanField, PlanValue][]).map(([field, value]) => (
      <div key={field}>
        <Text size="sm" fw={550} mb={4}>
          {FIELD_NAMES[field]}
        </Text>
        <CopyableText text={asText(value)} label={FIELD_NAMES[field]} />
      </div>
    ))}
  </section>
);
