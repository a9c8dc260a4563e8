import type { Receiver } from "@brand-records/console-contract";
import { Radio, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../api/queries.ts";
import { countText } from "../../parts/formats.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { announce } from "../../parts/states.tsx";

interface ReceiverDialogProps {
  readonly receiver: Receiver;
  onClose(): void;
}

const READ_AGAIN = ["receivers.get", "receivers.list", "deliveries.list"] as const;

/** Starts sending again, and decides about what was held meanwhile. */
export function EnableReceiver({ receiver: { id, label, waiting }, onClose }: ReceiverDialogProps) {
  const [held, setHeld] = useState<"release" | "drop">("release");
  const enable = useChange("receivers.enable", READ_AGAIN);
  const count = countText(waiting);
  const submit = (): void =>
    enable.mutate(
      { receiver_id: id, held },
      {
        onSuccess: () => {
          announce(`${label} enabled`);
          onClose();
        },
      },
    );
  return (
    <ConfirmDialog title="Enable this receiver?" change={enable} action="Enable" onConfirm={submit} onClose={onClose}>
      {waiting === 0 ? (
        <Text>Nothing is held. Events from now on are sent.</Text>
      ) : (
        <Radio.Group label="Held deliveries" value={held} onChange={(value) => setHeld(value)}>
          <Stack gap="xs" mt="xs">
            <Radio value="release" label={`Send the ${count} held`} />
            <Radio
              value="drop"
              label={`Drop the ${count} held`}
              description="They count as neither delivered nor failed. A replay of all events can send them later."
            />
          </Stack>
        </Radio.Group>
      )}
    </ConfirmDialog>
  );
}

/** Stops sending; what comes is held. */
export function DisableReceiver({ receiver: { id, label }, onClose }: ReceiverDialogProps) {
  const disable = useChange("receivers.disable", READ_AGAIN);
  const submit = (): void =>
    disable.mutate(
      { receiver_id: id },
      {
        onSuccess: () => {
          announce(`${label} disabled`);
          onClose();
        },
      },
    );
  return (
    <ConfirmDialog title="Disable this receiver?" change={disable} action="Disable" isCancelFocused onConfirm={submit} onClose={onClose}>
      <Text>Nothing more is sent to it. Deliveries are held until you enable it, for 30 days at most.</Text>
    </ConfirmDialog>
  );
}
