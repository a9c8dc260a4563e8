import { Text } from "@mantine/core";
import type { ReactNode } from "react";
import { CheckIcon } from "./icons.tsx";
import styles from "./steps.module.css";

/** Numbered steps, which people take one after the other. */
export const Steps = ({ isFramed = false, children }: { readonly isFramed?: boolean; readonly children: ReactNode }) => (
  <ol className={`${styles["steps"]} ${isFramed ? `${styles["framed"]} framed` : ""}`}>{children}</ol>
);

interface StepProps {
  readonly title: string;
  /** The element of the title. */
  readonly as?: "p" | "h3";
  readonly isDone: boolean;
  readonly isCurrent: boolean;
  readonly children: ReactNode;
}

export const Step = ({ title, as = "p", isDone, isCurrent, children }: StepProps) => (
  <li className={styles["step"]} data-done={isDone || undefined} aria-current={isCurrent ? "step" : undefined}>
    <span className={styles["mark"]} aria-hidden="true">
      {isDone && <CheckIcon size={16} />}
    </span>
    <div className={styles["content"]}>
      <Text component={as} fw={600}>
        {title} <span className="visually-hidden">{isDone ? "(done)" : "(to do)"}</span>
      </Text>
      {children}
    </div>
  </li>
);
