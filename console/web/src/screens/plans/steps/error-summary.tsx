import { Anchor, Text } from "@mantine/core";
import { useEffect, useRef, type ComponentProps } from "react";
import { Form } from "../../../parts/form.tsx";
import states from "../../../parts/states.module.css";
import { problemName, type Problems } from "../editing/field-problems.ts";
import styles from "../plans.module.css";
import { fieldId, focusField } from "./step.ts";

interface ErrorSummaryProps {
  readonly problems: Problems;
  /** Changes with each attempt: the summary takes the focus, also if the problems are the same. */
  readonly attempt: number;
  /** The name of a problem's field. Default: a plan's fields. */
  nameOf?(problem: string): string;
}

/** A form that a person fills in to go on with a plan. */
export const PlanForm = (props: ComponentProps<typeof Form>) => <Form className={styles["fields"] ?? ""} {...props} />;

/** All problems of a step at its top, with links to their fields. It has the focus after each refused attempt. */
export function ErrorSummary({ problems, attempt, nameOf = problemName }: ErrorSummaryProps) {
  const summary = useRef<HTMLDivElement>(null);
  const names = Object.keys(problems);
  const hasProblems = names.length > 0;
  useEffect(() => {
    if (hasProblems) summary.current?.focus();
  }, [attempt, hasProblems]);
  if (!hasProblems) return null;
  return (
    <div
      ref={summary}
      className={`${states["error"]} ${styles["summary"]}`}
      tabIndex={-1}
      data-tone="bad"
      role="group"
      aria-labelledby="problems"
    >
      <Text id="problems" fw={600}>
        {names.length === 1 ? "One thing needs your attention" : `${names.length} things need your attention`}
      </Text>
      <ul>
        {names.map((name) => (
          <li key={name}>
            <Anchor
              href={`#${fieldId(name)}`}
              inherit
              underline="always"
              onClick={(event) => {
                // Following it would be a navigation, which unsaved edits stop.
                event.preventDefault();
                focusField(name);
              }}
            >
              {nameOf(name)}: {problems[name]}
            </Anchor>
          </li>
        ))}
      </ul>
    </div>
  );
}
