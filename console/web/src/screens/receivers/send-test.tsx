import type { Receiver } from "@brand-records/console-contract";
import { Button, Code, Group, NativeSelect, Text } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../api/queries.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { announce, FormError } from "../../parts/states.tsx";
import { WatchDelivery } from "./watch-delivery.tsx";

interface SendTestProps {
  readonly receiver: Receiver;
  onClose(): void;
}

/** Sends a test of one of the selected types, and shows what becomes of it. */
export function SendTest(props: SendTestProps) {
  return props.receiver.enabled ? <Test {...props} /> : <NoTest onClose={props.onClose} />;
}

const TITLE = "Send a test";

const NoTest = ({ onClose }: Pick<SendTestProps, "onClose">) => (
  <Dialog title={TITLE} size="lg" onClose={onClose}>
    <Text>This receiver is disabled, and only enabled receivers get tests. Enable it first.</Text>
    <Group justify="flex-end">
      <Button variant="default" onClick={onClose} data-autofocus>
        Close
      </Button>
    </Group>
  </Dialog>
);

function Test({ receiver: { id, events }, onClose }: SendTestProps) {
  const [type, setType] = useState(events[0] ?? "");
  const [deliveryId, setDeliveryId] = useState<string>();
  const test = useChange("receivers.test", ["deliveries.list"]);
  const send = (): void =>
    test.make({ receiver_id: id, type, next: false }, ({ delivery_id }) => {
      announce("Test queued");
      setDeliveryId(delivery_id);
    });
  return (
    <Dialog title={TITLE} size="lg" isPending={test.isPending} onClose={onClose}>
      <Text>It has sample data and is signed like every delivery. Only your receiver’s 2xx means that it was accepted.</Text>
      <Text size="sm">
        <Code>npx @brand-records/cli receivers prove</Code> checks from your machine what the receiver must accept and must refuse.
      </Text>
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
        <Button variant="default" onClick={onClose} disabled={test.isPending}>
          {deliveryId === undefined ? "Cancel" : "Close"}
        </Button>
        <Button onClick={send} loading={test.isPending}>
          {deliveryId === undefined ? "Send test" : "Send another"}
        </Button>
      </Group>
    </Dialog>
  );
}
