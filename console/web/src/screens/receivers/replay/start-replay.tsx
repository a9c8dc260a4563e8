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
import { earliestSince, readSince, readUntil, usualSince } from "./since.ts";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";

const TYPING_MS = 400;

interface StartReplayProps {
  readonly receiver: Receiver;
  onStarted(replayId: string): void;
}

/** Which events to send again; how many they are shows before anything is sent. */
export function StartReplay({ receiver, onStarted }: StartReplayProps) {
  const [sinceText, setSinceText] = useState(() => manilaMinute(usualSince(Date.now())));
  const [untilText, setUntilText] = useState("");
  const [failedOnly, setFailedOnly] = useState(true);
  const [isConfirming, setIsConfirming] = useState(false);
  const since = readSince(sinceText, Date.now());
  const until = readUntil(untilText, sinceText);
  const typed = "instant" in since && "instant" in until ? `${since.instant} ${until.instant ?? ""}` : "";
  const [settled] = useDebouncedValue(typed, TYPING_MS);
  const [from = "", to = ""] = settled.split(" ");
  const input = { receiver_id: receiver.id, since: from, ...(to !== "" && { until: to }), failed_only: failedOnly };
  const count = useRead("replays.count", input, { enabled: settled !== "" });
  const events = typed === settled ? count.data?.events : undefined;
  const countedText = (counted: number | undefined): string => {
    if (counted === undefined) return "Counting…";
    if (counted > 0) return `${countOf(counted, "event", "events", countedMax(failedOnly))} will be sent again.`;
    return failedOnly ? noneFailed(isHeldBack(receiver) ? receiver.waiting : 0) : "There are no events since then.";
  };

  return (
    <Stack component="section" className={`${styles["section"]} framed`} align="flex-start" gap="sm" p="lg" aria-label="Start a replay">
      <Text component="h2" fw={650}>
        Send events again
      </Text>
      <Group align="start">
        <TextInput
          type="datetime-local"
          label="Since"
          description="Manila time, that minute included"
          value={sinceText}
          min={manilaMinute(earliestSince(Date.now()))}
          max={manilaMinute(Date.now())}
          onChange={({ currentTarget }) => setSinceText(currentTarget.value)}
          error={"problem" in since ? since.problem : fieldErrors(count.error)["since"]}
          required
        />
        <TextInput
          type="datetime-local"
          label="Until"
          description="Empty: up to the start of the replay"
          value={untilText}
          min={sinceText}
          max={manilaMinute(Date.now())}
          onChange={({ currentTarget }) => setUntilText(currentTarget.value)}
          error={"problem" in until ? until.problem : fieldErrors(count.error)["until"]}
        />
      </Group>
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
        {typed !== "" && (events !== undefined || count.error === null) && countedText(events)}
      </Text>
      <FormError error={count.error} fields={["since", "until"]} />
      <Group gap="sm">
        {events !== undefined && events > 0 && <Button onClick={() => setIsConfirming(true)}>Start replay</Button>}
        {count.error !== null && (
          <Button variant="default" size="xs" onClick={() => void count.refetch()}>
            Count again
          </Button>
        )}
      </Group>
      {isConfirming && events !== undefined && (
        <ConfirmReplay receiver={receiver} input={input} events={events} onStarted={onStarted} onClose={() => setIsConfirming(false)} />
      )}
    </Stack>
  );
}

/** @param waiting deliveries that have not used up their attempts */
function noneFailed(waiting: number): string {
  if (waiting === 0) return "No event since then has failed for good, so there is nothing to send.";
  return `No event since then has failed for good, so a replay sends nothing. But ${countOf(waiting, "delivery waits", "deliveries wait")} to be sent: a replay does not touch them. “Send all waiting now”, above, does.`;
}

interface ConfirmReplayProps extends StartReplayProps {
  readonly input: InputInBrand<"replays.start">;
  readonly events: number;
  onClose(): void;
}

function ConfirmReplay({ receiver, input, events, onStarted, onClose }: ConfirmReplayProps) {
  const client = useQueryClient();
  const start = useChange("replays.start", ["replays.latest", "receivers.get"]);
  const number = countOf(events, "event", "events", countedMax(input.failed_only));
  const submit = (): void =>
    // The dialog's own callbacks would end with it: the page that shows the replay has no form.
    void start.mutateAsync(input).then(
      ({ replay }) => {
        announce("Replay started");
        onStarted(replay.id);
      },
      (error: unknown) => {
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
        <strong>{receiver.label}</strong> gets {input.failed_only ? "what failed" : "every event"} since <When at={input.since} />
        <When before=" until " at={input.until ?? null} />, oldest first, as new deliveries.
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
