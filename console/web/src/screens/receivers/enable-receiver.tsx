import type { Receiver } from "@brand-records/console-contract";
import { Radio, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { countText } from "../../parts/formats.ts";
import { ConfirmChange } from "../../parts/confirm-dialog.tsx";

interface ReceiverDialogProps {
  readonly receiver: Receiver;
  onClose(): void;
}

const READ_AGAIN = ["receivers.get", "receivers.list", "deliveries.list"] as const;

/** Starts sending again, and decides about what was held meanwhile. */
export function EnableReceiver({ receiver: { id, label, waiting }, onClose }: ReceiverDialogProps) {
  const [held, setHeld] = useState<"release" | "drop">("release");
  const count = countText(waiting);
  return (
    <ConfirmChange
      title="Enable this receiver?"
      operation="receivers.enable"
      input={{ receiver_id: id, held }}
      changes={READ_AGAIN}
      done={`${label} enabled`}
      action="Enable"
      onClose={onClose}
    >
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
    </ConfirmChange>
  );
}

/** Stops sending; what comes is held. */
export function DisableReceiver({ receiver: { id, label }, onClose }: ReceiverDialogProps) {
  return (
    <ConfirmChange
      title="Disable this receiver?"
      operation="receivers.disable"
      input={{ receiver_id: id }}
      changes={READ_AGAIN}
      done={`${label} disabled`}
      action="Disable"
      isCancelFocused
      onClose={onClose}
    >
      <Text>Nothing more is sent to it. Deliveries are held until you enable it, for 30 days at most.</Text>
    </ConfirmChange>
  );
}
