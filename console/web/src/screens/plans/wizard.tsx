import { Button, Group, Text } from "@mantine/core";
import { getRouteApi, useBlocker, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef, useState, type ComponentType, type ReactNode } from "react";
import { ButtonLink } from "../../parts/links.tsx";
import { Page } from "../../parts/page.tsx";
import { FormError, LoadingRows } from "../../parts/states.tsx";
import type { Confirmations } from "./confirmations.ts";
import type { Choices } from "./draft.ts";
import { ErrorSummary } from "./error-summary.tsx";
import { PlanOrigin, PlansLink } from "./plan-origin.tsx";
import { STEP_TITLES } from "./plan-texts.ts";
import { STEP_NAMES, type StepName } from "./steps.ts";
import styles from "./plans.module.css";
import { StepList } from "./step-list.tsx";
import { BudgetStep } from "./step-budget.tsx";
import { NotesStep } from "./step-notes.tsx";
import type { StepProps } from "./step.ts";
import { TheirChangesNotice } from "./their-changes-notice.tsx";
import type { PlanEditing, SaveOutcome } from "./use-plan-editing.ts";

// Each page needs few of them.
const BasicsStep = lazy(async () => ({ default: (await import("./step-basics.tsx")).BasicsStep }));
const CreativeStep = lazy(async () => ({ default: (await import("./step-creative.tsx")).CreativeStep }));
const ReviewStep = lazy(async () => ({ default: (await import("./step-review.tsx")).ReviewStep }));
const CancelPlan = lazy(async () => ({ default: (await import("./cancel-plan.tsx")).CancelPlan }));
const ConflictPanel = lazy(async () => ({ default: (await import("./conflict-panel.tsx")).ConflictPanel }));
const LeaveDialog = lazy(async () => ({ default: (await import("./leave-dialog.tsx")).LeaveDialog }));

const FIELDS: Readonly<Record<Exclude<StepName, "review">, ComponentType<StepProps>>> = {
  basics: BasicsStep,
  budget: BudgetStep,
  creative: CreativeStep,
  notes: NotesStep,
};

/** The five steps of a pending plan. Each is saved by itself; the last one completes the plan. */
export function Wizard({ editing }: { readonly editing: PlanEditing }) {
  const { step = "basics" } = getRouteApi("/shell/workspaces/$type/plans/$planId").useSearch();
  const navigate = useNavigate();
  const hasShownOne = useRef(false);
  const [isChoosing, setIsChoosing] = useState(false);
  const [isCancelling, setIsCancelling] = useState(false);
  const [confirmations, setConfirmations] = useState<Confirmations>({ revision: 0, names: [] });
  const [refusedRevision, setRefusedRevision] = useState<number>();
  const { plan, isDirty, discard } = editing;
  const next = STEP_NAMES[STEP_NAMES.indexOf(step) + 1] ?? "review";

  const save = async (choices?: Choices): Promise<SaveOutcome> => {
    const outcome = await editing.save(choices);
    setIsChoosing(outcome === "conflict");
    return outcome;
  };
  const { guard, leaveAllowed } = useLeaveGuard(isDirty);
  const saveAndContinue = async (choices?: Choices): Promise<void> => {
    if ((await save(choices)) !== "saved") return;
    leaveAllowed.current = true;
    await navigate({ to: ".", search: { step: next } });
    leaveAllowed.current = false;
  };

  return (
    <Page
      title={plan.title}
      parent={<PlansLink />}
      description={<PlanOrigin plan={plan} />}
      actions={
        <Button variant="default" onClick={() => setIsCancelling(true)}>
          Cancel plan
        </Button>
      }
    >
      <div className={styles["wizard"]}>
        <StepList plan={plan} current={step} />
        <div className={styles["panel"]}>
          <TheirChangesNotice editing={editing} isChoosing={isChoosing} refusedRevision={refusedRevision} />
          {isChoosing && editing.conflicts.length > 0 ? (
            <Suspense>
              <ConflictPanel
                editing={editing}
                onChoose={(choices) => void saveAndContinue(choices)}
                onDiscard={() => {
                  discard();
                  setIsChoosing(false);
                }}
              />
            </Suspense>
          ) : (
            <Step key={step} step={step} hasShownOne={hasShownOne}>
              <Suspense fallback={<LoadingRows />}>
                {step === "review" ? (
                  <ReviewStep editing={editing} confirmations={confirmations} onConfirm={setConfirmations} onRefused={setRefusedRevision} />
                ) : (
                  <StepForm step={step} editing={editing} onSave={() => void saveAndContinue()} />
                )}
              </Suspense>
            </Step>
          )}
        </div>
      </div>
      <Suspense>
        {isCancelling && <CancelPlan editing={editing} onClose={() => setIsCancelling(false)} />}
        {guard.status === "blocked" && (
          <LeaveDialog
            stepTitle={STEP_TITLES[step]}
            isSignedOut={guard.next.pathname === "/sign-in"}
            isSaving={editing.isSaving}
            onSave={() => void save().then((outcome) => (outcome === "saved" ? guard.proceed() : guard.reset()))}
            onDiscard={() => {
              discard();
              guard.proceed();
            }}
            onStay={guard.reset}
          />
        )}
      </Suspense>
    </Page>
  );
}

/** The plan and the step that a location shows. The plan's type in its path is no other place. */
const placeOf = ({ pathname, search }: { readonly pathname: string; readonly search: object }): string =>
  `${pathname.replace(/^\/workspaces\/[^/]+/, "")} ${"step" in search ? String(search.step) : ""}`;

/** Stops a navigation while edits are not saved, and asks before the tab closes. */
function useLeaveGuard(isDirty: boolean) {
  const leaveAllowed = useRef(false);
  const guard = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && !leaveAllowed.current && placeOf(current) !== placeOf(next),
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  return { guard, leaveAllowed };
}

interface StepContentProps {
  readonly step: StepName;
  /** Whether the wizard has shown a step before: if not, the page's heading has the focus. */
  readonly hasShownOne: { current: boolean };
  readonly children: ReactNode;
}

/** A step's heading, which takes the focus when the step changes, and its content. */
function Step({ step, hasShownOne, children }: StepContentProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (hasShownOne.current) heading.current?.focus({ preventScroll: true });
    hasShownOne.current = true;
  }, [hasShownOne]);
  return (
    <>
      <div>
        <Text size="xs" c="dimmed">
          Step {STEP_NAMES.indexOf(step) + 1} of {STEP_NAMES.length}
        </Text>
        <Text component="h2" ref={heading} tabIndex={-1} fw={650} fz="1.125rem" className="page-title">
          {STEP_TITLES[step]}
        </Text>
      </div>
      {children}
    </>
  );
}

interface StepFormProps {
  readonly step: Exclude<StepName, "review">;
  readonly editing: PlanEditing;
  onSave(): void;
}

function StepForm({ step, editing, onSave }: StepFormProps) {
  const { problems, refusals, error, isDirty, isSaving } = editing;
  const Fields = FIELDS[step];
  const before = STEP_NAMES[STEP_NAMES.indexOf(step) - 1];
  return (
    <form
      className={styles["fields"]}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSave();
      }}
    >
      <ErrorSummary problems={problems} attempt={refusals} />
      <Fields {...editing} />
      <FormError
        error={error}
        fields={Object.keys(problems)}
        unknownOutcome="It may have been saved all the same. Save again: that does no harm."
      />
      <Group className={styles["buttons"] ?? ""}>
        <Button type="submit" aria-busy={isSaving}>
          {isSaving ? "Saving…" : "Save and continue"}
        </Button>
        {before !== undefined && (
          <ButtonLink variant="subtle" to="." search={{ step: before }}>
            Back
          </ButtonLink>
        )}
        {isDirty && (
          <Text size="sm" c="dimmed">
            Unsaved edits
          </Text>
        )}
      </Group>
    </form>
  );
}
