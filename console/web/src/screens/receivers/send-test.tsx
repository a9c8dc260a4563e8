import type { Receiver } from "@brand-records/console-contract";
import { Button, Group, Modal, NativeSelect, Stack, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useChange } from "../../api/queries.ts";
import { FormError } from "../../parts/states.tsx";
import { announce } from "../../parts/status-region.tsx";
import { useBrand } from "../../shell/brand.tsx";

/** Queues a test of one of the selected types, then shows that delivery as it is sent. */
export function SendTest({ receiver: { id, events }, onClose }: { readonly receiver: Receiver; onClose(): void }) {
  const { ofBrand } = useBrand();
  const navigate = useNavigate();
  const [type, setType] = useState(events[0] ?? "");
  const test = useChange("receivers.test", ["deliveries.list"]);
  const send = (): void =>
    test.mutate(
      { ...ofBrand, receiver_id: id, type, next: false },
      {
        onSuccess: ({ delivery_id }) => {
          announce("Test queued");
          void navigate({ to: "/developers/deliveries/$deliveryId", params: { deliveryId: delivery_id } });
        },
      },
    );
  return (
    <Modal opened onClose={onClose} title="Send a test" closeButtonProps={{ "aria-label": "Close" }}>
      <Stack>
        <Text>It has sample data and is signed like every delivery. Only your receiver’s 2xx means that it was accepted.</Text>
        <NativeSelect
          label="Event"
          value={type}
          onChange={({ currentTarget }) => setType(currentTarget.value)}
          data={[...events]}
          data-autofocus
        />
        <FormError error={test.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button onClick={send} loading={test.isPending}>
            Send test
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
