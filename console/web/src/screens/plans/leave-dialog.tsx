import { Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { useLocation } from "@tanstack/react-router";
import { Dialog } from "../../parts/dialog.tsx";

interface LeaveDialogProps {
  /** The step whose edits are not saved. */
  readonly stepTitle: string;
  /** The session has ended: nothing can be saved before the person signs in again. */
  readonly isSignedOut: boolean;
  readonly isSaving: boolean;
  onSave(): void;
  onDiscard(): void;
  onStay(): void;
}

/** Asks what becomes of unsaved edits before the page is left. */
export function LeaveDialog({ stepTitle, isSignedOut, isSaving, onSave, onDiscard, onStay }: LeaveDialogProps) {
  const { href } = useLocation();
  return (
    <Dialog title={isSignedOut ? "You are signed out" : "Save your edits?"} onClose={onStay}>
      <Stack>
        {isSignedOut ? (
          <Text>
            Your edits of “{stepTitle}” are not saved yet.{" "}
            <Anchor href={`/sign-in?return_to=${encodeURIComponent(href)}`} target="_blank" inherit underline="always">
              Sign in in a new tab
            </Anchor>
            , then come back and save here.
          </Text>
        ) : (
          <Text>Your edits of “{stepTitle}” are not saved yet.</Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onStay}>
            Stay
          </Button>
          <Button variant="default" onClick={onDiscard}>
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
