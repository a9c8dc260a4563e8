import { Text } from "@mantine/core";
import { CheckIcon } from "../../parts/icons.tsx";
import styles from "./checklist.module.css";
import type { Step } from "./set-up-steps.tsx";

/** The steps of the set-up; folded once all are done. */
export function Checklist({ steps, isEligible }: { readonly steps: readonly Step[]; readonly isEligible: boolean }) {
  const done = steps.filter(({ isDone }) => isDone).length;
  if (done === steps.length) {
    return (
      <details className={styles["folded"]}>
        <summary>
          Set-up complete: {done} of {steps.length} steps
        </summary>
        <Steps steps={steps} />
      </details>
    );
  }
  return (
    <section className={styles["section"]} aria-label="Set-up">
      <div className={styles["heading"]}>
        <Text component="h2" fw={600}>
          {isEligible ? "Set up your integration" : "What you can set up then"}
        </Text>
        <Text size="sm" c="dimmed">
          {done} of {steps.length} done
        </Text>
      </div>
      <Steps steps={steps} />
    </section>
  );
}

function Steps({ steps }: { readonly steps: readonly Step[] }) {
  const next = steps.find(({ isDone }) => !isDone);
  return (
    <ol className={styles["steps"]}>
      {steps.map((step) => (
        <li
          key={step.title}
          className={styles["step"]}
          data-done={step.isDone || undefined}
          aria-current={step === next ? "step" : undefined}
        >
          <span className={styles["mark"]} aria-hidden="true">
            {step.isDone && <CheckIcon size={16} />}
          </span>
          <div className={styles["what"]}>
            <Text fw={600}>
              {step.title} <span className="visually-hidden">{step.isDone ? "(done)" : "(to do)"}</span>
            </Text>
            <Text size="sm" c="dimmed">
              {step.text}
            </Text>
            <div className={styles["action"]}>{step.action}</div>
          </div>
        </li>
      ))}
    </ol>
  );
}
