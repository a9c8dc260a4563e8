import type { Delivery } from "@brand-records/console-contract";
import { useEffect, useState, type ReactNode } from "react";
import { useRead } from "../../api/queries.ts";
import { outcomeText } from "../../parts/deliveries/delivery-texts.ts";
import { AnchorLink } from "../../parts/links.tsx";
import { attemptsAround, totalOf, waitingProgress, waitingText } from "../../parts/receivers/waiting-progress.ts";
import { StateBadge } from "../../parts/state-badge.tsx";
import { announce, FormError } from "../../parts/states.tsx";
import bar from "../../parts/progress.module.css";
import type { Asked, Sent } from "./waiting-panel.tsx";

const WATCHED_POLL_MS = 1_000;

/** What became of what was asked for on the page. */
export const WaitingResult = (asked: Asked): ReactNode =>
  asked.kind === "one" ? <TriedDelivery key={asked.delivery.attempts} tried={asked.delivery} /> : <SentWaiting key={asked.at} {...asked} />;

/** What became of the delivery that was tried. */
function TriedDelivery({ tried }: { readonly tried: Delivery }) {
  const { data, error } = useRead(
    "deliveries.get",
    { delivery_id: tried.id },
    { refetchInterval: (read) => attemptSince(tried, read?.attempts) === undefined && WATCHED_POLL_MS },
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
