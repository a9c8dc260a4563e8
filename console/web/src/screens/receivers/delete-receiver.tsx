import type { Receiver } from "@brand-records/console-contract";
import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { isGone } from "../../api/call.ts";
import { useChange } from "../../api/queries.ts";
import { countOf } from "../../parts/counts.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { showProblems } from "../../parts/show-problems.ts";
import { FormError } from "../../parts/states.tsx";
import { announce } from "../../parts/status-region.tsx";
import { useBrand } from "../../api/brand.ts";

/** Deletes a receiver, once its label is typed. */
export function DeleteReceiver({ receiver: { id, label, waiting }, onClose }: { readonly receiver: Receiver; onClose(): void }) {
  const { ofBrand } = useBrand();
  const navigate = useNavigate();
  const [typed, setTyped] = useState("");
  const [isWrong, setIsWrong] = useState(false);
  const remove = useChange("receivers.delete", ["receivers.list"]);
  const leave = (text: string): void => {
    announce(text);
    void navigate({ to: "/developers/receivers" });
  };
  const submit = (): void => {
    if (typed.trim() !== label) return showProblems(() => setIsWrong(true));
    // The dialog's own callbacks would end with it: once the receiver is gone, the page may be, too.
    void remove.mutateAsync({ ...ofBrand, receiver_id: id }).then(
      ({ dropped }) => leave(`${label} deleted, ${countOf(dropped, "delivery", "deliveries", Infinity)} dropped`),
      (error: unknown) => {
        // Somebody else was first, or a try whose response was lost.
        if (error instanceof Error && isGone(error)) leave(`${label} is deleted already`);
      },
    );
  };
  return (
    <Dialog title="Delete this receiver?" isPending={remove.isPending} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
        noValidate
      >
        <Stack>
          <Text>
            <strong>{label}</strong> gets nothing more, and its signing secret is gone. This cannot be undone.
          </Text>
          <Text>
            {waiting === 0
              ? "No delivery to it is waiting."
              : `${countOf(waiting, "waiting delivery is", "waiting deliveries are")} dropped and never sent.`}{" "}
            The list of its deliveries goes too; each one stays in the log of its event for 30 days.
          </Text>
          <TextInput
            label="Type the receiver’s label to confirm"
            description={label}
            value={typed}
            onChange={({ currentTarget }) => {
              setTyped(currentTarget.value);
              setIsWrong(false);
            }}
            error={isWrong && "This is not the receiver’s label."}
            data-autofocus
            autoComplete="off"
          />
          <FormError error={remove.error} unknownOutcome="It may have been deleted all the same. Trying again does no harm." />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} disabled={remove.isPending}>
              Cancel
            </Button>
            <Button type="submit" color="red.9" loading={remove.isPending}>
              Delete receiver
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
