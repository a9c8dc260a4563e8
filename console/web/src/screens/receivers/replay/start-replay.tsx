import type { Receiver } from "@brand-records/console-contract";
import { Button, Group, Radio, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { CallError, fieldErrors } from "../../../api/call.ts";
import { useChange, useRead, type InputInBrand } from "../../../api/queries.ts";
import { countOf } from "../../../parts/formats.ts";
import { isHeldBack } from "../../../parts/receivers/waiting-progress.ts";
import { announce, FormError } from "../../../parts/states.tsx";
import { When } from "../../../parts/when.tsx";
import { countedMax } from "./replay-progress.tsx";
import styles from "../receiver-page.module.css";
import { manilaMinute } from "../../../parts/filters/days.ts";
import { earliestSince, readSince, usualSince } from "./since.ts";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";

const TYPING_MS = 400;

/** Which events to send again; how many they are shows before anything is sent. */
export function StartReplay({ receiver }: { readonly receiver: Receiver }) {
  const [text, setText] = useState(() => manilaMinute(usualSince(Date.now())));
  const [failedOnly, setFailedOnly] = useState(true);
  const [isConfirming, setIsConfirming] = useState(false);
  const since = readSince(text, Date.now());
  const [settled] = useDebouncedValue("instant" in since ? since.instant : "", TYPING_MS);
  const input = { receiver_id: receiver.id, since: settled, failed_only: failedOnly };
  const count = useRead("replays.count", input, { enabled: settled !== "" });
  const isSettled = "instant" in since && since.instant === settled;
  const events = isSettled ? count.data?.events : undefined;
  const countedText = (counted: number | undefined): string => {
    if (counted === undefined) return "Counting…";
    if (counted > 0) return `${countOf(counted, "event is", "events are", countedMax(failedOnly))} sent again.`;
    return failedOnly ? noneFailed(isHeldBack(receiver) ? receiver.waiting : 0) : "There are no events since then.";
  };

  return (
    <Stack
      component="section"
      className={`${styles["section"]} framed`}
      align="flex-start"
      gap="0.75rem"
      p="1.25rem"
      aria-label="Start a replay"
    >
      <Text component="h2" fw={650}>
        Send events again
      </Text>
      <TextInput
        type="datetime-local"
        label="Since"
        description="Manila time. Events of that minute are included, up to the start of the replay."
        value={text}
        min={manilaMinute(earliestSince(Date.now()))}
        max={manilaMinute(Date.now())}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        error={"problem" in since ? since.problem : fieldErrors(count.error)["since"]}
        required
      />
      <Radio.Group label="Which events" value={failedOnly ? "failed" : "all"} onChange={(value) => setFailedOnly(value === "failed")}>
        <Stack gap="sm" mt="xs">
          <Radio
            value="failed"
            label="Failed only"
            description="Events whose delivery to this receiver has used up its attempts, that the receiver has never accepted, and that are not being sent or retried: what is missing, and nothing else. Deliveries that were dropped have not failed."
          />
          <Radio
            value="all"
            label="Everything"
            description="Every event of the types that it selects now: also those it has accepted, those that wait for a retry, and those from before it was registered. It gets them again, with the same event id and body."
          />
        </Stack>
      </Radio.Group>
      <Text size="sm" fw={600}>
        {"instant" in since && (events !== undefined || count.error === null) && countedText(events)}
      </Text>
      <FormError error={count.error} fields={["since"]} />
      <Group gap="sm">
        {events !== undefined && events > 0 && <Button onClick={() => setIsConfirming(true)}>Start replay</Button>}
        {count.error !== null && (
          <Button variant="default" size="xs" onClick={() => void count.refetch()}>
            Count again
          </Button>
        )}
      </Group>
      {isConfirming && events !== undefined && (
        <ConfirmReplay receiver={receiver} input={input} events={events} onClose={() => setIsConfirming(false)} />
      )}
    </Stack>
  );
}

/** @param waiting deliveries that have not used up their attempts */
function noneFailed(waiting: number): string {
  if (waiting === 0) return "No event since then has failed for good, so there is nothing to send.";
  return `No event since then has failed for good, so a replay sends nothing. But ${countOf(waiting, "delivery waits", "deliveries wait")} to be sent: a replay does not touch them. “Send all waiting now”, above, does.`;
}

interface ConfirmReplayProps {
  readonly receiver: Receiver;
  readonly input: InputInBrand<"replays.start">;
  readonly events: number;
  onClose(): void;
}

function ConfirmReplay({ receiver, input, events, onClose }: ConfirmReplayProps) {
  const client = useQueryClient();
  const start = useChange("replays.start", ["replays.latest", "receivers.get"]);
  const number = countOf(events, "event", "events", countedMax(input.failed_only));
  const submit = (): void =>
    start.make(
      input,
      () => {
        announce("Replay started");
        onClose();
      },
      (error) => {
        // Another person has started one: the page shows it instead of this form.
        if (!(error instanceof CallError && error.code === "request_conflict")) return;
        announce("Another replay is in progress");
        void client.invalidateQueries({ queryKey: ["replays.latest"] });
      },
    );
  return (
    <ConfirmDialog
      title={`Send ${number} again?`}
      change={start}
      action={`Send ${number}`}
      isCancelFocused
      unknownOutcome="It may have started all the same: look at the last replay before you send again."
      onConfirm={submit}
      onClose={onClose}
    >
      <Text>
        <strong>{receiver.label}</strong> gets {input.failed_only ? "what failed" : "every event"} since <When at={input.since} />, oldest
        first, as new deliveries.
      </Text>
      {!input.failed_only && (
        <Text>
          That includes events it has accepted before, and events that wait for a retry, which then arrive twice. Your receiver must ignore
          an event id that it has handled.
        </Text>
      )}
      {!receiver.enabled && <Text>The receiver is disabled: the deliveries are held until you enable it.</Text>}
    </ConfirmDialog>
  );
}
