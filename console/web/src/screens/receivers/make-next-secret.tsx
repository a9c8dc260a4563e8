import type { Receiver } from "@brand-records/console-contract";
import { Checkbox, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { CallError } from "../../api/call.ts";
import { useSecretChange, SecretDialog } from "../../parts/secret-dialog.tsx";
import { showProblems } from "../../parts/states.tsx";
import { When } from "../../parts/when.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";

interface MakeNextSecretProps {
  readonly receiver: Receiver;
  onMade(): void;
  onClose(): void;
}

/** Makes the next secret once its consequence is confirmed, then shows it once. */
export function MakeNextSecret({
  receiver: { id, rotating, next_secret_at, next_secret_accepted_at },
  onMade,
  onClose,
}: MakeNextSecretProps) {
  const client = useQueryClient();
  // `rotating` would be wrong: the receiver is that as soon as the secret is made.
  const [replaces, setReplaces] = useState(rotating);
  const [isConfirmed, setIsConfirmed] = useState(false);
  const [isMissing, setIsMissing] = useState(false);
  const rotate = useSecretChange("receivers.rotate", ["receivers.get", "receivers.list"], "The next secret is made");

  const submit = (): void => {
    if (replaces && !isConfirmed) return showProblems(() => setIsMissing(true));
    rotate.make({ receiver_id: id, replace: replaces }, (error) => {
      if (!(error instanceof CallError && error.code === "request_conflict")) return;
      setReplaces(true);
      void client.invalidateQueries({ queryKey: ["receivers.get"] });
    });
  };

  if (rotate.made !== undefined) {
    const stored = (): void => {
      onMade();
      onClose();
    };
    return (
      <SecretDialog title="The next signing secret" kind="signing secret" secret={rotate.made.secret} onStored={stored}>
        <Text size="sm">
          Give it to your receiver beside the present one, so that it accepts a signature by either. Then send the test of step 2.
        </Text>
      </SecretDialog>
    );
  }
  return (
    <ConfirmDialog
      title={replaces ? "Replace the next secret?" : "Make the next secret?"}
      change={rotate}
      action={replaces ? "Replace the next secret" : "Make the next secret"}
      isDangerous={replaces}
      isCancelFocused
      unknownOutcome="The secret may have been made, but it cannot be shown any more. Make another one to replace it."
      onConfirm={submit}
      onClose={onClose}
    >
      {replaces ? (
        <>
          <Text>
            There is a next secret already
            <When before=", made " at={next_secret_at} />
            {next_secret_accepted_at !== null && ", and your receiver accepted a test signed with it"}. Another one replaces it for good.
          </Text>
          <Checkbox
            checked={isConfirmed}
            onChange={({ currentTarget }) => {
              setIsConfirmed(currentTarget.checked);
              setIsMissing(false);
            }}
            label="Replace it: nothing uses that secret alone"
            description="A receiver that has only the replaced secret refuses every delivery from now on."
            error={isMissing && "Confirm that it may be replaced."}
          />
        </>
      ) : (
        <Text>
          Deliveries from now on have a second signature, by the next secret. Your receiver goes on verifying the first one; it needs no
          change yet. The secret shows once, so have the place ready where you store it.
        </Text>
      )}
    </ConfirmDialog>
  );
}
