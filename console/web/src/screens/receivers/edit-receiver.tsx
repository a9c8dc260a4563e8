import type { Receiver } from "@brand-records/console-contract";
import { Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../api/queries.ts";
import { announce } from "../../parts/status-region.tsx";
import { useBrand } from "../../api/brand.ts";
import { ReceiverForm, type ReceiverValues, type SubmittedForm } from "./receiver-form.tsx";
import { changesOf } from "./receiver-changes.ts";

const valuesOf = ({ url, label, events, max_in_flight }: Receiver): ReceiverValues => ({
  url,
  label,
  events,
  maxInFlight: String(max_in_flight),
});

/** Changes what was edited and nothing else, so that two people who edit different fields keep both changes. */
export function EditReceiver({ receiver }: { readonly receiver: Receiver }) {
  const { ofBrand } = useBrand();
  const update = useChange("receivers.update", ["receivers.get", "receivers.list"]);
  // What the form was filled with: the page reads the receiver again while the form is open.
  const [saved, setSaved] = useState(receiver);
  const [result, setResult] = useState("");

  const submit = (values: ReceiverValues, { refuse, fill }: SubmittedForm): void => {
    setResult("");
    const changes = changesOf(valuesOf(saved), values);
    if (Object.keys(changes).length === 0) return setResult("Nothing has changed.");
    update.mutate(
      { ...ofBrand, receiver_id: receiver.id, ...changes },
      {
        onSuccess: ({ receiver: changed }) => {
          setSaved(changed);
          fill(valuesOf(changed));
          setResult("Saved.");
          announce("Settings saved");
        },
        onError: refuse,
      },
    );
  };

  return (
    <ReceiverForm initial={valuesOf(saved)} error={update.error} onSubmit={submit}>
      {receiver.rotating && (
        <Text size="sm" c="dimmed">
          A signing secret is being rotated. If you change the URL, a test signed with the next secret must be accepted again.
        </Text>
      )}
      <Group>
        <Button type="submit" loading={update.isPending}>
          Save
        </Button>
        <Text size="sm">{result}</Text>
      </Group>
    </ReceiverForm>
  );
}
