import type { Delivery, Receiver } from "@brand-records/console-contract";
import { Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useChange } from "../../api/queries.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { Dialog, Done } from "../../parts/dialog.tsx";
import { countOf } from "../../parts/formats.ts";
import { announce } from "../../parts/states.tsx";

interface SendShownProps {
  readonly receiver: Receiver;
  /** As they were when the dialog was opened. */
  readonly deliveries: readonly Delivery[];
  onClose(): void;
}

/** Sends deliveries that a list shows once more, one after the other. After a failure it goes on with the others. */
export function SendShown({ receiver, deliveries, onClose }: SendShownProps) {
  const replay = useChange("deliveries.replay", ["deliveries.list"], false);
  const [all] = useState(deliveries);
  const [sent, setSent] = useState(0);
  const left = all.slice(sent);
  const sentText = `${countOf(sent, "event was", "events were")} sent again.`;
  const send = useMutation({
    mutationFn: async () => {
      for (const { id } of left) {
        await replay.mutateAsync({ delivery_id: id });
        setSent((count) => count + 1);
      }
      announce("Sent again");
    },
  });
  if (left.length === 0) {
    return (
      <Dialog title="Sent again" onClose={onClose}>
        <Text>{sentText}</Text>
        <Done onClose={onClose} />
      </Dialog>
    );
  }
  const action = `Send ${countOf(left.length, "event", "events")}`;
  return (
    <ConfirmDialog
      title={`${action} again?`}
      change={send}
      action={action}
      isCancelFocused
      onConfirm={() => send.mutate()}
      onClose={onClose}
    >
      <Text>
        <strong>{receiver.label}</strong> gets the events of the deliveries that the list shows once more, as new deliveries. Your receiver
        must ignore an event id that it has handled.{receiver.enabled || " It is disabled: they are held until you enable it."}
      </Text>
      {sent > 0 && <Text>{sentText}</Text>}
    </ConfirmDialog>
  );
}
