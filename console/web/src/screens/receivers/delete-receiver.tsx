import type { Receiver } from "@brand-records/console-contract";
import { Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { isGone } from "../../api/call.ts";
import { useChange } from "../../api/queries.ts";
import { countOf } from "../../parts/formats.ts";
import { ConfirmByName } from "../../parts/confirm-dialog.tsx";
import { announce } from "../../parts/states.tsx";

/** Deletes a receiver, once its label is typed. */
export function DeleteReceiver({ receiver: { id, label, waiting }, onClose }: { readonly receiver: Receiver; onClose(): void }) {
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
