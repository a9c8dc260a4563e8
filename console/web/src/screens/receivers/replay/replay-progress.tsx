import type { Receiver, Replay } from "@brand-records/console-contract";
import { Button, Group, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useBrand } from "../../../api/queries.ts";
import { countOf, countText } from "../../../parts/formats.ts";
import { AnchorLink } from "../../../parts/links.tsx";
import { StateBadge } from "../../../parts/state-badge.tsx";
import { When } from "../../../parts/when.tsx";
import bar from "../../../parts/progress.module.css";
import styles from "../receiver-page.module.css";
import { today } from "../../../parts/filters/days.ts";
import { ConfirmChange } from "../../../parts/confirm-dialog.tsx";
import { announce } from "../../../parts/states.tsx";

/** Number of waiting deliveries above which a replay waits too. */
const WAITING_MAX = 10_000;

interface ReplayProgressProps {
  readonly replay: Replay;
  readonly receiver: Receiver;
}

/** How far a replay is, or how it ended. */
export function ReplayProgress({ replay, receiver }: ReplayProgressProps) {
  const { isOwner } = useBrand();
  const [isCancelling, setIsCancelling] = useState(false);
  const { since, until, failed_only, started_at, finished_at, queued, total } = replay;
  const isRunning = finished_at === null;
  useAnnouncedEnd(replay);
  return (
    <Stack component="section" className={`${styles["section"]} framed`} align="flex-start" gap="sm" p="lg" aria-label="Replay">
      <Group gap="sm">
        <Text component="h2" fw={650}>
          {isRunning ? "Replay in progress" : "Last replay"}
        </Text>
        <ReplayState replay={replay} />
      </Group>
      <Text size="sm">
        {failed_only ? "What failed" : "Every event"} since <When at={since} />
        {until < started_at && <When before=" until " at={until} />}, started <When at={started_at} />
        <When before=", ended " at={finished_at} />.
      </Text>
      {isRunning && <progress className={bar["progress"]} value={queued} max={Math.max(1, total)} aria-label="Events queued" />}
      <Text size="sm">
        {isRunning ? `${countText(queued, Infinity)} of ${countText(total, countedMax(failed_only))} queued` : endText(queued, receiver)}
        {isRunning && receiver.waiting >= WAITING_MAX && ". It goes on when fewer than 10,000 deliveries wait for this receiver"}.
      </Text>
      <Group gap="md">
        <AnchorLink
          to="/developers/receivers/$receiverId"
          params={{ receiverId: receiver.id }}
          search={{ from: today(new Date(started_at)) }}
          size="sm"
        >
          See the deliveries since it started
        </AnchorLink>
        {isRunning && isOwner && (
          <Button variant="default" size="xs" onClick={() => setIsCancelling(true)}>
            Cancel replay
          </Button>
        )}
      </Group>
      {isCancelling && isRunning && <CancelReplay replay={replay} onClose={() => setIsCancelling(false)} />}
    </Stack>
  );
}

/** What became of the events: they may wait behind others, or for the receiver. */
function endText(queued: number, { enabled, waiting, in_flight }: Receiver): string {
  if (queued === 0) return "No event was sent again";
  const events = countOf(queued, "event was", "events were", Infinity);
  if (!enabled) return `${events} queued, and held: the receiver is disabled`;
  const left = waiting + in_flight;
  return left === 0 ? `${events} sent again` : `${events} queued; ${countOf(left, "delivery is", "deliveries are")} still to be sent`;
}

function ReplayState({ replay: { finished_at, cancelled_at } }: Pick<ReplayProgressProps, "replay">) {
  if (cancelled_at !== null) return <StateBadge state="revoked" text="Cancelled" />;
  return finished_at === null ? <StateBadge state="sending" text="Queueing" /> : <StateBadge state="delivered" text="Finished" />;
}

/** Tells people who do not see the page that a replay which they saw running has ended. */
function useAnnouncedEnd({ id, queued, finished_at, cancelled_at }: Replay): void {
  const client = useQueryClient();
  const running = useRef<string>(undefined);
  useEffect(() => {
    if (finished_at === null) running.current = id;
    else if (running.current === id) {
      announce(`Replay ${cancelled_at === null ? "finished" : "cancelled"}, ${countOf(queued, "event", "events", Infinity)} queued`);
      running.current = undefined;
      // How many are left to be sent.
      void client.invalidateQueries({ queryKey: ["receivers.get"] });
    }
  }, [client, id, queued, finished_at, cancelled_at]);
}

function CancelReplay({ replay: { id, queued }, onClose }: Pick<ReplayProgressProps, "replay"> & { onClose(): void }) {
  return (
    <ConfirmChange
      title="Cancel this replay?"
      operation="replays.cancel"
      input={{ replay_id: id }}
      changes={["replays.latest"]}
      action="Cancel replay"
      cancel="Keep it running"
      isCancelFocused
      onClose={onClose}
    >
      <Text>
        No more events are queued.{" "}
        {queued > 0 && `The ${countOf(queued, "event", "events", Infinity)} queued so far are sent all the same.`}
      </Text>
    </ConfirmChange>
  );
}

/** Up to where the service counts the events of a replay: failed ones need a look at each event's deliveries. */
export const countedMax = (failedOnly: boolean): number => (failedOnly ? 10_000 : 100_000);
