import type { Delivery, Receiver } from "@brand-records/console-contract";
import { Button, Group } from "@mantine/core";
import { useEffect, useState, type ReactNode } from "react";
import { call } from "../../api/call.ts";
import { useBrand, useChange, useRead } from "../../api/queries.ts";
import { countOf, countText } from "../../parts/formats.ts";
import { outcomeText } from "../../parts/deliveries/delivery-texts.ts";
import { AnchorLink } from "../../parts/links.tsx";
import { PausedText } from "../../parts/receivers/paused-text.tsx";
import { isHeldBack, waitingProgress, waitingText } from "../../parts/receivers/waiting-progress.ts";
import { StateBadge } from "../../parts/state-badge.tsx";
import { announce, FormError, Notice } from "../../parts/states.tsx";
import bar from "../../parts/progress.module.css";
import styles from "./waiting-panel.module.css";

const WATCHED_POLL_MS = 1_000;

/** All deliveries that waited, when they were sent. */
interface Sent {
  readonly receiver: Receiver;
  /** When the service had answered, in milliseconds since the epoch. */
  readonly at: number;
  /** Attempts that had failed before anything was sent; undefined if that is not known. */
  readonly failedBefore: number | undefined;
}

/** What was asked for on this page. */
type Asked = { readonly kind: "one"; readonly delivery: Delivery } | ({ readonly kind: "all" } & Sent);

/** Says why deliveries wait at an enabled receiver, and lets owners send them now, and watch. Nothing if all is well. */
export function WaitingPanel({ receiver }: { readonly receiver: Receiver }) {
  const { isOwner, ofBrand } = useBrand();
  const [asked, setAsked] = useState<Asked>();
  const [isPressed, setIsPressed] = useState(false);
  const send = useChange("receivers.send_waiting", ["receivers.get", "receivers.list", "deliveries.list"]);
  const { id, waiting, waiting_due, paused_until, failures_in_a_row } = receiver;
  const isWaiting = isHeldBack(receiver);
  const press = async (all: boolean): Promise<void> => {
    setIsPressed(true);
    // Read before anything is sent: if no more have failed at the end, all were accepted.
    const stats = all
      ? await call("deliveries.stats", { ...ofBrand, ...attemptsAround(id, Date.now()) }).catch(() => undefined)
      : undefined;
    send.make({ receiver_id: id, all }, ({ receiver: sent, first }) => {
      announce(all ? `Sending ${countOf(totalOf(sent), "delivery", "deliveries")}` : "Trying one delivery");
      if (first === null) return;
      const failedBefore = stats?.total.failed;
      setAsked(all ? { kind: "all", receiver: sent, at: Date.now(), failedBefore } : { kind: "one", delivery: first });
    });
    setIsPressed(false);
  };
  const button = (text: string, all: boolean) => (
    <Button
      variant="default"
      size="xs"
      onClick={() => void press(all)}
      loading={send.isPending && send.variables.all === all}
      disabled={send.isPending || isPressed}
    >
      {text}
    </Button>
  );
  if (paused_until === null && !isWaiting && asked === undefined) return null;
  return (
    <Notice tone={isWaiting || paused_until !== null ? "waiting" : "note"} isWide>
      <div className={styles["panel"]}>
        {paused_until !== null && (
          <span>
            <PausedText until={paused_until} failuresInARow={failures_in_a_row} />
          </span>
        )}
        {paused_until === null && isWaiting && (
          <span>{countOf(waiting - waiting_due, "delivery waits", "deliveries wait")} for a retry.</span>
        )}
        {asked?.kind === "one" && <TriedDelivery key={asked.delivery.attempts} tried={asked.delivery} />}
        {asked?.kind === "all" && <SentWaiting key={asked.at} {...asked} />}
        <FormError error={send.error} />
        {isOwner && isWaiting && (
          <Group gap="xs" className={styles["buttons"] ?? ""}>
            {paused_until !== null && button("Try now", false)}
            {button(waiting === 1 ? "Send the one waiting now" : `Send all ${countText(waiting)} waiting now`, true)}
          </Group>
        )}
      </div>
    </Notice>
  );
}

/** What became of the delivery that was tried. */
function TriedDelivery({ tried }: { readonly tried: Delivery }) {
  const { data, error } = useRead(
    "deliveries.get",
    { delivery_id: tried.id },
    { refetchInterval: ({ state: { data } }) => (attemptSince(tried, data?.attempts) === undefined ? WATCHED_POLL_MS : false) },
  );
  const attempt = attemptSince(tried, data?.attempts);
  const text = attempt === undefined ? "Trying one delivery…" : `Tried just now: ${outcomeText(attempt.outcome, attempt.http_status)}.`;
  useAnnounced(attempt === undefined ? undefined : text);
  return (
    <span>
      {text}{" "}
      <AnchorLink to="/developers/deliveries/$deliveryId" params={{ deliveryId: tried.id }} inherit underline="always">
        See the delivery
      </AnchorLink>
      <FormError error={error} />
    </span>
  );
}

const attemptSince = <One extends { readonly attempt: number }>({ attempts }: Delivery, all: readonly One[] | undefined): One | undefined =>
  all?.findLast(({ attempt }) => attempt > attempts);

/** Deliveries that waited: some are being sent by the time the service answers, and one at least was there. */
const totalOf = ({ waiting, in_flight }: Receiver): number => Math.max(1, waiting + in_flight);

const HOUR_MS = 3_600_000;

/** A receiver's attempts of the hours that a person may look at its page. */
const attemptsAround = (receiver_id: string, now: number) => ({
  receiver_id,
  from: new Date(now - HOUR_MS).toISOString(),
  to: new Date(now + 24 * HOUR_MS).toISOString(),
});

/** How far the receiver is with what waited. */
function SentWaiting({ receiver: sent, at, failedBefore }: Sent): ReactNode {
  const total = totalOf(sent);
  const [progress, setProgress] = useState(() => waitingProgress(undefined, total, sent, at));
  const { data, dataUpdatedAt } = useRead(
    "receivers.get",
    { receiver_id: sent.id },
    { refetchInterval: progress.state === "sending" ? WATCHED_POLL_MS : false },
  );
  useEffect(() => {
    // Older counts may be from before it was asked for.
    if (data !== undefined && dataUpdatedAt > at) setProgress((before) => waitingProgress(before, total, data.receiver, dataUpdatedAt));
  }, [data, dataUpdatedAt, at, total]);
  const isOver = progress.state === "sent" && progress.left === total;
  const { data: stats } = useRead("deliveries.stats", attemptsAround(sent.id, at), { enabled: isOver && failedBefore !== undefined });
  const isAccepted = isOver && stats !== undefined && stats.total.failed === failedBefore;
  const text = waitingText(total, progress, isAccepted);
  useAnnounced(progress.state === "sending" ? undefined : text);
  return (
    <>
      <span>{isAccepted ? <StateBadge state="delivered" text={text} /> : text}</span>
      {progress.state === "sending" && (
        <progress className={bar["progress"]} value={progress.tried} max={total} aria-label="Deliveries tried" />
      )}
    </>
  );
}

/** Tells people who do not see the page how it ended. */
function useAnnounced(text: string | undefined): void {
  useEffect(() => {
    if (text !== undefined) announce(text);
  }, [text]);
}
