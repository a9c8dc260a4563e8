import type { Plan } from "@brand-records/console-contract";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { dayText } from "../../../parts/filters/days.ts";
import { Pesos } from "../../../parts/pesos.tsx";
import { countOf } from "../../../parts/formats.ts";
import { typeName } from "../plan-texts.ts";
import { STEP_NAMES, STEPS, type StepName } from "../plan-pages.ts";
import styles from "../plans.module.css";

/** What a step holds, in a few words. */
const SUMMARIES: Readonly<Record<StepName, (plan: Plan) => ReactNode>> = {
  basics: ({ campaign_type, planned_for }) => `${typeName(campaign_type)}, ${dayText(planned_for)}`,
  budget: ({ planning_budget_centavos }) => <Pesos centavos={planning_budget_centavos} />,
  creative: ({ requirements, platforms }) =>
    `${countOf(requirements.length, "requirement", "requirements")}, ${countOf(platforms.length, "platform", "platforms")}`,
  notes: ({ notes }) => (notes === null ? "None" : "For your team only"),
  review: () => "Confirm and complete",
};

/** The steps. Each can be opened at any time: a plan is complete from the start. */
export function StepList({ plan, current }: { readonly plan: Plan; readonly current: StepName }) {
  return (
    <nav aria-label="Steps" className={styles["steps"]}>
      <ol>
        {STEP_NAMES.map((step) => {
          const content = (
            <span>
              <strong>{STEPS[step].title}</strong>
              <small>{SUMMARIES[step](plan)}</small>
            </span>
          );
          return (
            <li key={step} aria-current={step === current ? "step" : undefined}>
              {step === current ? (
                <div>{content}</div>
              ) : (
                <Link to="." search={{ step }} className="choice">
                  {content}
                </Link>
              )}
            </li>
          );
        })}
      </ol>
    </nav>
  );
}
