import type { Delivery, Receiver } from "@brand-records/console-contract";
import { Text } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../api/queries.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { countOf } from "../../parts/formats.ts";
import { announce } from "../../parts/states.tsx";

interface SendShownProps {
  readonly receiver: Receiver;
  /** As they were when the dialog was opened. */
  readonly deliveries: readonly Delivery[];
  onSent(): void;
  onClose(): void;
}

/** Sends deliveries that a list shows once more, one after the other. What fails in between is repeated for the others alone. */
export function SendShown({ receiver, deliveries, onSent, onClose }: SendShownProps) {
  // Lists are read once, at the end.
  const replay = useChange("deliveries.replay", []);
  const [all] = useState(deliveries);
  const [sent, setSent] = useState(0);
  const [isPending, setIsPending] = useState(false);
  const left = all.slice(sent);
  const submit = async (): Promise<void> => {
    setIsPending(true);
    try {
      for (const { id } of left) {
        await replay.mutateAsync({ delivery_id: id });
        setSent((count) => count + 1);
      }
      announce(`${countOf(all.length, "event was", "events were")} sent again`);
      onSent();
    } catch {
      // The dialog shows why.
      setIsPending(false);
    }
  };
  return (
    <ConfirmDialog
      title={`Send ${countOf(left.length, "event", "events")} again?`}
      receiver={receiver}
      change={{ isPending, error: isPending ? null : replay.error }}
      action={`Send ${countOf(left.length, "event", "events")}`}
      isCancelFocused
      unknownOutcome="One of them may have been sent all the same: trying again within five seconds sends it no second time."
      onConfirm={() => void submit()}
      onClose={onClose}
    >
      <Text>
        <strong>{receiver.label}</strong> gets the events of the deliveries that the list shows once more, with the same event ids, as new
        deliveries. Your receiver must ignore an event id that it has handled.
      </Text>
      {sent > 0 && <Text>{countOf(sent, "event was", "events were")} sent again so far.</Text>}
      {!receiver.enabled && <Text>The receiver is disabled: the deliveries are held until you enable it.</Text>}
    </ConfirmDialog>
  );
}
