import type { Plan } from "@brand-records/console-contract";
import { Text } from "@mantine/core";
import { Notice } from "../../parts/states.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { When } from "../../parts/when.tsx";
import { Page, Panel } from "../../parts/page.tsx";
import { PlanContents } from "./plan-contents.tsx";
import { PlanOrigin } from "./plan-origin.tsx";
import { textsOf } from "./plan-texts.ts";
import { visibleControls } from "../../parts/formats.ts";
import { valuesOf, type PlanValues } from "./plan-values.ts";
import { UnsavedText } from "../../parts/unsaved-text.tsx";

interface ClosedPlanProps {
  readonly plan: Plan;
  /** What the person was editing when somebody else closed the plan. */
  readonly unsaved: Partial<PlanValues>;
}

/** A completed or cancelled plan, to read: who closed it, and what comes next. */
export function ClosedPlan({ plan, unsaved }: ClosedPlanProps) {
  const isCompleted = plan.status === "completed";
  return (
    <Page title={visibleControls(plan.title)} parent="plans" description={<PlanOrigin plan={plan} />}>
      <Notice>
        <Text size="sm" className="breakable">
          <StateBadge state={isCompleted ? "completed" : "cancelled"} /> by <strong>{plan.closed_by ?? "a person"}</strong>
          <When before=", " at={plan.closed_at} />
        </Text>
        <Text size="sm" mt="xs">
          <strong>Nothing was published, funded or paid.</strong>{" "}
          {isCompleted
            ? "Your team sets up and funds the campaign from here. This page stays, as what was agreed. If the integration sends its request again, it gets the completed plan."
            : "If the integration sends the same request again, it is refused; a request with a new id makes a new plan."}
        </Text>
      </Notice>
      {Object.keys(unsaved).length > 0 && <UnsavedText texts={textsOf(unsaved)} reason="The plan was closed while you edited it." />}
      <Panel>
        <Text component="h2" fw={650} fz="var(--size-title)">
          The plan
        </Text>
        <PlanContents values={valuesOf(plan)} />
      </Panel>
    </Page>
  );
}
