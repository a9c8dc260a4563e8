import { Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { useLocation } from "@tanstack/react-router";
import { Dialog } from "../../../parts/dialog.tsx";
import { textsOf } from "../plan-texts.ts";
import type { PlanValues } from "../plan-values.ts";
import { CopyableTexts } from "../../../parts/unsaved-text.tsx";

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
      <Stack>
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
      </Stack>
    </Dialog>
  );
}
