import { Button, Group, Text } from "@mantine/core";
import { getRouteApi, useBlocker, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState, type ComponentType, type ReactNode } from "react";
import { ButtonLink } from "../../parts/links.tsx";
import { Page } from "../../parts/page.tsx";
import { FormError } from "../../parts/states.tsx";
import { voided, type Confirmations } from "./confirmations.ts";
import type { Choices } from "./draft.ts";
import { ErrorSummary } from "./error-summary.tsx";
import { loadedPart } from "./loaded-part.tsx";
import { PlanOrigin, PlansLink } from "./plan-origin.tsx";
import { STEP_TITLES } from "./plan-texts.ts";
import { STEP_NAMES, type StepName } from "./steps.ts";
import { visibleControls } from "./visible-controls.ts";
import styles from "./plans.module.css";
import { StepList } from "./step-list.tsx";
import { BudgetStep } from "./step-budget.tsx";
import { NotesStep } from "./step-notes.tsx";
import type { StepProps } from "./step.ts";
import { TheirChangesNotice } from "./their-changes-notice.tsx";
import type { PlanEditing, SaveOutcome } from "./use-plan-editing.ts";

// Each page needs few of them. All are loaded once a plan is open: unsaved edits outlive a lost connection and a new version of the console.
const BasicsStep = loadedPart(async () => (await import("./step-basics.tsx")).BasicsStep);
const CreativeStep = loadedPart(async () => (await import("./step-creative.tsx")).CreativeStep);
const ReviewStep = loadedPart(async () => (await import("./step-review.tsx")).ReviewStep);
const CancelPlan = loadedPart(async () => (await import("./cancel-plan.tsx")).CancelPlan);
const ConflictPanel = loadedPart(async () => (await import("./conflict-panel.tsx")).ConflictPanel);
const LeaveDialog = loadedPart(async () => (await import("./leave-dialog.tsx")).LeaveDialog);
const PARTS = [BasicsStep, CreativeStep, ReviewStep, CancelPlan, ConflictPanel, LeaveDialog];

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
  const [isPartlySaved, setIsPartlySaved] = useState(false);
  const [isCancelling, setIsCancelling] = useState(false);
  const [confirmations, setConfirmations] = useState<Confirmations>({ revision: 0, names: [] });
  const [refusedRevision, setRefusedRevision] = useState<number>();
  const { plan, isDirty } = editing;
  const next = STEP_NAMES[STEP_NAMES.indexOf(step) + 1] ?? "review";

  useEffect(() => {
    for (const part of PARTS) part.preload();
  }, []);
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
      parent={<PlansLink />}
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
          stepTitle={STEP_TITLES[step]}
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
        <div className={styles["panel"]}>
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
        </div>
      </div>
    </Page>
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
  /** The last save took a while, and the person has edited more meanwhile. */
  readonly isPartlySaved: boolean;
  onSave(): void;
}

function StepForm({ step, editing, isPartlySaved, onSave }: StepFormProps) {
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
            {isPartlySaved && !isSaving ? "Saved, except what you have edited since: save again" : "Unsaved edits"}
          </Text>
        )}
      </Group>
    </form>
  );
}
