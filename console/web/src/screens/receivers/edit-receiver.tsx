import type { Receiver } from "@brand-records/console-contract";
import { Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import { isUncertain } from "../../api/call.ts";
import { useChange } from "../../api/queries.ts";
import { ReceiverForm, type ReceiverValues, type SubmittedForm } from "./receiver-form.tsx";
import { changesOf } from "./receiver-changes.ts";
import { announce, Hint } from "../../parts/states.tsx";

const valuesOf = ({ url, label, events, max_in_flight }: Receiver): ReceiverValues => ({
  url,
  label,
  events,
  maxInFlight: String(max_in_flight),
});

/** Changes what was edited and nothing else, so that two people who edit different fields keep both changes. */
export function EditReceiver({ receiver }: { readonly receiver: Receiver }) {
  const update = useChange("receivers.update", ["receivers.get", "receivers.list"]);
  // What the form was filled with: the page reads the receiver again while the form is open.
  const [saved, setSaved] = useState(receiver);
  const [result, setResult] = useState("");
  // What a save without a response may have stored is sent with the next one, also if it is as it was before.
  const [uncertain, setUncertain] = useState<readonly string[]>([]);

  const submit = (values: ReceiverValues, { refuse, fill }: SubmittedForm): void => {
    setResult("");
    const changes = changesOf(valuesOf(saved), values, uncertain);
    if (Object.keys(changes).length === 0) return setResult("Nothing has changed.");
    update.make(
      { receiver_id: receiver.id, ...changes },
      ({ receiver: changed }) => {
        setSaved(changed);
        setUncertain([]);
        fill(valuesOf(changed));
        setResult("Saved.");
        announce("Settings saved");
      },
      (error) => {
        if (isUncertain(error)) setUncertain([...uncertain, ...Object.keys(changes)]);
        refuse(error);
      },
    );
  };

  return (
    <ReceiverForm
      initial={valuesOf(saved)}
      error={update.error}
      unknownOutcome="It may have been saved all the same. Save again: that does no harm."
      onSubmit={submit}
    >
      {receiver.rotating && (
        <Hint>A signing secret is being rotated. If you change the URL, a test signed with the next secret must be accepted again.</Hint>
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
