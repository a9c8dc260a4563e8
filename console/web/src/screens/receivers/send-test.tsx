import type { Receiver } from "@brand-records/console-contract";
import { Button, Group, Modal, NativeSelect, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../api/queries.ts";
import { FormError } from "../../parts/states.tsx";
import { announce } from "../../parts/status-region.tsx";
import { useBrand } from "../../shell/brand.tsx";
import { WatchDelivery } from "../deliveries/watch-delivery.tsx";

interface SendTestProps {
  readonly receiver: Receiver;
  onClose(): void;
}

/** Sends a test of one of the selected types, and shows what becomes of it. */
export function SendTest({ receiver, onClose }: SendTestProps) {
  return (
    <Modal opened onClose={onClose} title="Send a test" size="lg" closeButtonProps={{ "aria-label": "Close" }}>
      {receiver.enabled ? <Test receiver={receiver} onClose={onClose} /> : <NoTest onClose={onClose} />}
    </Modal>
  );
}

const NoTest = ({ onClose }: Pick<SendTestProps, "onClose">) => (
  <Stack>
    <Text>This receiver is disabled, and only enabled receivers get tests. Enable it first.</Text>
    <Group justify="flex-end">
      <Button variant="default" onClick={onClose} data-autofocus>
        Close
      </Button>
    </Group>
  </Stack>
);

function Test({ receiver: { id, events }, onClose }: SendTestProps) {
  const { ofBrand } = useBrand();
  const [type, setType] = useState(events[0] ?? "");
  const [deliveryId, setDeliveryId] = useState<string>();
  const test = useChange("receivers.test", ["deliveries.list"]);
  const send = (): void =>
    test.mutate(
      { ...ofBrand, receiver_id: id, type, next: false },
      {
        onSuccess: ({ delivery_id }) => {
          announce("Test queued");
          setDeliveryId(delivery_id);
        },
      },
    );
  return (
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
      {deliveryId !== undefined && <WatchDelivery key={deliveryId} deliveryId={deliveryId} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {deliveryId === undefined ? "Cancel" : "Close"}
        </Button>
        <Button onClick={send} loading={test.isPending}>
          {deliveryId === undefined ? "Send test" : "Send another"}
        </Button>
      </Group>
    </Stack>
  );
}
