import type { Receiver } from "@brand-records/console-contract";
import { Button, Group, Radio, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../api/queries.ts";
import { countText } from "../../parts/counts.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { FormError } from "../../parts/states.tsx";
import { announce } from "../../parts/status-region.tsx";
import { useBrand } from "../../api/brand.ts";

interface ReceiverDialogProps {
  readonly receiver: Receiver;
  onClose(): void;
}

const READ_AGAIN = ["receivers.get", "receivers.list", "deliveries.list"] as const;

/** Starts sending again, and decides about what was held meanwhile. */
export function EnableReceiver({ receiver: { id, label, waiting }, onClose }: ReceiverDialogProps) {
  const { ofBrand } = useBrand();
  const [held, setHeld] = useState<"release" | "drop">("release");
  const enable = useChange("receivers.enable", READ_AGAIN);
  const count = countText(waiting);
  const submit = (): void =>
    enable.mutate(
      { ...ofBrand, receiver_id: id, held },
      {
        onSuccess: () => {
          announce(`${label} enabled`);
          onClose();
        },
      },
    );
  return (
    <Dialog title="Enable this receiver?" isPending={enable.isPending} onClose={onClose}>
      <Stack>
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
        <FormError error={enable.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={enable.isPending}>
            Cancel
          </Button>
          <Button onClick={submit} loading={enable.isPending}>
            Enable
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

/** Stops sending; what comes is held. */
export function DisableReceiver({ receiver: { id, label }, onClose }: ReceiverDialogProps) {
  const { ofBrand } = useBrand();
  const disable = useChange("receivers.disable", READ_AGAIN);
  const submit = (): void =>
    disable.mutate(
      { ...ofBrand, receiver_id: id },
      {
        onSuccess: () => {
          announce(`${label} disabled`);
          onClose();
        },
      },
    );
  return (
    <Dialog title="Disable this receiver?" isPending={disable.isPending} onClose={onClose}>
      <Stack>
        <Text>Nothing more is sent to it. Deliveries are held until you enable it, for 30 days at most.</Text>
        <FormError error={disable.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={disable.isPending} data-autofocus>
            Cancel
          </Button>
          <Button onClick={submit} loading={disable.isPending}>
            Disable
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
