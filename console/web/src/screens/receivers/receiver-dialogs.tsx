import type { Receiver } from "@brand-records/console-contract";
import { Button, Group, NativeSelect, Radio, Stack, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { isGone } from "../../api/call.ts";
import { useChange } from "../../api/queries.ts";
import { ConfirmByName, ConfirmChange } from "../../parts/confirm-dialog.tsx";
import { Dialog, Done } from "../../parts/dialog.tsx";
import { countOf, countText } from "../../parts/formats.ts";
import { announce, FormError } from "../../parts/states.tsx";
import { Prove } from "../../parts/receivers/prove.tsx";
import { WatchDelivery } from "./watch-delivery.tsx";

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

/** Deletes a receiver, once its label is typed. */
export function DeleteReceiver({ receiver: { id, label, waiting }, onClose }: ReceiverDialogProps) {
  const navigate = useNavigate();
  const remove = useChange("receivers.delete", ["receivers.list"]);
  const leave = (text: string): void => {
    announce(text);
    void navigate({ to: "/developers/receivers" });
  };
  const submit = (): void => {
    // The dialog's own callbacks would end with it: once the receiver is gone, the page may be, too.
    void remove.mutateAsync({ receiver_id: id }).then(
      ({ dropped }) => leave(`${label} deleted, ${countOf(dropped, "delivery", "deliveries", Infinity)} dropped`),
      (error: unknown) => {
        // Somebody else was first, or a try whose response was lost.
        if (error instanceof Error && isGone(error)) leave(`${label} is deleted already`);
      },
    );
  };
  return (
    <ConfirmByName
      title="Delete this receiver?"
      name={label}
      nameKind="receiver’s label"
      change={remove}
      action="Delete receiver"
      unknownOutcome="It may have been deleted all the same. Trying again does no harm."
      onConfirm={submit}
      onClose={onClose}
    >
      <Text>
        <strong>{label}</strong> gets nothing more, and its signing secret is gone. This cannot be undone.
      </Text>
      <Text>
        {waiting === 0
          ? "No delivery to it is waiting."
          : `${countOf(waiting, "waiting delivery is", "waiting deliveries are")} dropped and never sent.`}{" "}
        The list of its deliveries goes too; each one stays in the log of its event for 30 days.
      </Text>
    </ConfirmByName>
  );
}

const TEST = "Send a test";

/** Sends a test of one of the selected types, and shows what becomes of it. */
export function SendTest(props: ReceiverDialogProps) {
  if (props.receiver.enabled) return <Test {...props} />;
  return (
    <Dialog title={TEST} size="lg" onClose={props.onClose}>
      <Text>This receiver is disabled, and only enabled receivers get tests. Enable it first.</Text>
      <Done onClose={props.onClose} />
    </Dialog>
  );
}

function Test({ receiver: { id, events }, onClose }: ReceiverDialogProps) {
  const [type, setType] = useState(events[0] ?? "");
  const [deliveryId, setDeliveryId] = useState<string>();
  const test = useChange("receivers.test", ["deliveries.list"]);
  const send = (): void =>
    test.make({ receiver_id: id, type, next: false }, ({ delivery_id }) => {
      announce("Test queued");
      setDeliveryId(delivery_id);
    });
  return (
    <Dialog title={TEST} size="lg" isPending={test.isPending} onClose={onClose}>
      <Text>
        It has sample data and is signed like every delivery. Only your receiver’s 2xx means that it was accepted. <Prove />
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
