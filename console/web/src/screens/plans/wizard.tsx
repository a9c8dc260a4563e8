import { Button, Text } from "@mantine/core";
import { getRouteApi, useNavigate, useBlocker } from "@tanstack/react-router";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { Page, Panel } from "../../parts/page.tsx";
import type { Choices } from "./editing/draft.ts";
import { TheirChangesNotice } from "./editing/their-changes-notice.tsx";
import type { PlanEditing, SaveOutcome } from "./editing/use-plan-editing.ts";
import { loadedPart } from "../../parts/loaded-part.tsx";
import { PlanOrigin } from "./plan-origin.tsx";
import { STEP_NAMES, STEPS, type StepName } from "./plan-pages.ts";
import { visibleControls } from "../../parts/formats.ts";
import styles from "./plans.module.css";
import { voided, type Confirmations } from "./steps/confirmations.ts";
import { StepForm } from "./steps/step-form.tsx";
import { StepList } from "./steps/step-list.tsx";

const ReviewStep = loadedPart(async () => (await import("./steps/review.tsx")).ReviewStep);
const CancelPlan = loadedPart(async () => (await import("./plan-dialogs.tsx")).CancelPlan);
const ConflictPanel = loadedPart(async () => (await import("./steps/conflict-panel.tsx")).ConflictPanel);
const LeaveDialog = loadedPart(async () => (await import("./plan-dialogs.tsx")).LeaveDialog);

/** The five steps of a pending plan. Each is saved by itself; the last one completes the plan. */
export function Wizard({ editing }: { readonly editing: PlanEditing }) {
  const { step = "basics" } = getRouteApi("/shell/workspaces/$type/plans/$planId").useSearch();
  const navigate = useNavigate();
  const hasShownOne = useRef(false);
  const [isChoosing, setIsChoosing] = useState(false);
  const [isPartlySaved, setIsPartlySaved] = useState(false);
  const [isCancelling, setIsCancelling] = useState(false);
  const [confirmations, setConfirmations] = useState<Confirmations>({ revision: 0, names: [] });
  const [refusedRevision, setRefusedRevision] = useState<number>();
  const { plan, isDirty } = editing;
  const next = STEP_NAMES[STEP_NAMES.indexOf(step) + 1] ?? "review";

  // Any edit, also one that is not saved, makes the confirmations void.
  const edit: PlanEditing["edit"] = (field, value) => {
    setConfirmations(voided);
    setIsChoosing(false);
    editing.edit(field, value);
  };
  const discard = (): void => {
    editing.discard();
    setIsChoosing(false);
  };
  const save = async (choices?: Choices): Promise<SaveOutcome> => {
    const outcome = await editing.save(choices);
    setIsChoosing(outcome === "conflict");
    setIsPartlySaved(outcome === "edited");
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
      title={visibleControls(plan.title)}
      parent="plans"
      description={<PlanOrigin plan={plan} />}
      actions={
        <Button variant="default" onClick={() => setIsCancelling(true)}>
          Cancel plan
        </Button>
      }
    >
      {/* First: the page begins with what could not be loaded. */}
      {isCancelling && <CancelPlan editing={editing} onClose={() => setIsCancelling(false)} />}
      {guard.status === "blocked" && (
        <LeaveDialog
          stepTitle={STEPS[step].title}
          isSignedOut={guard.next.pathname === "/sign-in"}
          isSaving={editing.isSaving}
          unsaved={editing.unsaved}
          onSave={() => void save().then((outcome) => (outcome === "saved" ? guard.proceed() : guard.reset()))}
          onDiscard={() => {
            discard();
            guard.proceed();
          }}
          onStay={guard.reset}
        />
      )}
      <div className={styles["wizard"]}>
        <StepList plan={plan} current={step} />
        <Panel>
          <TheirChangesNotice editing={editing} isChoosing={isChoosing} refusedRevision={refusedRevision} />
          {isChoosing && editing.conflicts.length > 0 ? (
            <ConflictPanel editing={editing} onChoose={(choices) => void saveAndContinue(choices)} onDiscard={discard} />
          ) : (
            <Step key={step} step={step} hasShownOne={hasShownOne}>
              {step === "review" ? (
                <ReviewStep
                  editing={editing}
                  confirmations={confirmations}
                  onConfirm={setConfirmations}
                  onRefused={setRefusedRevision}
                  onSave={() => void save()}
                  onDiscard={discard}
                />
              ) : (
                <StepForm step={step} editing={{ ...editing, edit }} isPartlySaved={isPartlySaved} onSave={() => void saveAndContinue()} />
              )}
            </Step>
          )}
        </Panel>
      </div>
    </Page>
  );
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
        <Text component="h2" ref={heading} tabIndex={-1} fw={650} fz="var(--size-title)" className="page-title breakable">
          {STEPS[step].title}
        </Text>
      </div>
      {children}
    </>
  );
}

interface Place {
  readonly pathname: string;
  readonly search: object;
}

/** The plan's type in its path is no other place. */
const planOf = ({ pathname }: Place): string => pathname.replace(/^\/workspaces\/[^/]+/, "");
const stepOf = ({ search }: Place): unknown => ("step" in search ? search.step : undefined);

/** Whether unsaved edits would be out of sight. From the review, the steps lead back to them. */
const isLeaving = (current: Place, next: Place): boolean =>
  planOf(current) !== planOf(next) || (stepOf(current) !== stepOf(next) && stepOf(current) !== "review");

/** Stops a navigation while edits are not saved, and asks before the tab closes. */
function useLeaveGuard(isDirty: boolean) {
  const leaveAllowed = useRef(false);
  const guard = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && !leaveAllowed.current && isLeaving(current, next),
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  return { guard, leaveAllowed };
}
