import { Button, Group, Text, Anchor } from "@mantine/core";
import { useLocation } from "@tanstack/react-router";
import { useChange } from "../../api/queries.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { announce, Notice } from "../../parts/states.tsx";
import { isChanged, isOutdated } from "./editing/editing.ts";
import { textsOf } from "./plan-texts.ts";
import { visibleControls } from "../../parts/formats.ts";
import type { PlanEditing } from "./editing/use-plan-editing.ts";
import type { PlanValues } from "./plan-values.ts";
import { CopyableTexts } from "../../parts/unsaved-text.tsx";

/** Cancels a plan permanently. */
export function CancelPlan({ editing: { plan, adopt, readAgain }, onClose }: { readonly editing: PlanEditing; onClose(): void }) {
  const cancel = useChange("plans.cancel", ["plans.list"]);
  const submit = (): void => {
    cancel.make(
      { plan_id: plan.id, expected_revision: plan.revision },
      ({ plan: cancelled }) => {
        adopt(cancelled);
        announce("Plan cancelled");
        onClose();
      },
      (error) => {
        if (isOutdated(error)) void readAgain();
      },
    );
  };
  return (
    <ConfirmDialog
      title="Cancel this plan?"
      change={{ isPending: cancel.isPending, error: isChanged(cancel.error) ? null : cancel.error }}
      action="Cancel plan"
      cancel="Keep plan"
      isDangerous
      isCancelFocused
      unknownOutcome="It may have been cancelled all the same. Trying again does no harm."
      onConfirm={submit}
      onClose={onClose}
    >
      <Text className="breakable">
        <strong>
          <bdi>{visibleControls(plan.title)}</bdi>
        </strong>{" "}
        can then be neither edited nor completed. This cannot be undone.
      </Text>
      <Text>
        If the integration asks for the same plan again, it is refused; a new request makes a new plan. Nothing was published, funded or
        paid.
      </Text>
      {isChanged(cancel.error) && <Notice tone="waiting">Somebody has just changed the plan. Do you still want to cancel it?</Notice>}
    </ConfirmDialog>
  );
}

interface LeaveDialogProps {
  /** The step whose edits are not saved. */
  readonly stepTitle: string;
  /** The session has ended: nothing can be saved before the person signs in again. */
  readonly isSignedOut: boolean;
  readonly isSaving: boolean;
  readonly unsaved: Partial<PlanValues>;
  onSave(): void;
  onDiscard(): void;
  onStay(): void;
}

/** Asks what becomes of unsaved edits before the page is left. */
export function LeaveDialog({ stepTitle, isSignedOut, isSaving, unsaved, onSave, onDiscard, onStay }: LeaveDialogProps) {
  const { href } = useLocation();
  return (
    <Dialog title={isSignedOut ? "You are signed out" : "Save your edits?"} isPending={isSaving} onClose={onStay}>
      {isSignedOut ? (
        <Text>
          Your edits of “{stepTitle}” are not saved yet.{" "}
          <Anchor href={`/sign-in?return_to=${encodeURIComponent(href)}`} target="_blank" inherit underline="always">
            Sign in in a new tab
          </Anchor>
          , then come back and save here. If you are no longer a member of the brand, copy what you still need:
        </Text>
      ) : (
        <Text>Your edits of “{stepTitle}” are not saved yet.</Text>
      )}
      {isSignedOut && <CopyableTexts texts={textsOf(unsaved)} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onStay} disabled={isSaving}>
          Stay
        </Button>
        <Button variant="default" onClick={onDiscard} disabled={isSaving}>
          Discard
        </Button>
        <Button onClick={onSave} aria-busy={isSaving} data-autofocus>
          {isSaving ? "Saving…" : "Save"}
        </Button>
      </Group>
    </Dialog>
  );
}
