import type { Delivery } from "@brand-records/console-contract";
import { StateBadge } from "../state-badge.tsx";
import { When } from "../when.tsx";
import { isDue, nextAttemptAt, retryText, attemptsText, outcomeText } from "./delivery-texts.ts";
import { Lines } from "../rows.tsx";
import styles from "./marks.module.css";

interface DeliveryStateProps {
  readonly delivery: Delivery;
  /** Time until which sending to its receiver is paused; null if it is not. */
  readonly pausedUntil?: string | null;
}

/** A delivery's state; for one that is retried, which attempt is next and when. */
export function DeliveryState({ delivery, pausedUntil = null }: DeliveryStateProps) {
  const { state } = delivery;
  const next = nextAttemptAt(delivery, pausedUntil);
  const text = retryText(delivery);
  if (text === undefined) return <StateBadge state={state} />;
  return (
    <span>
      <StateBadge state={state} text={text} />
      {next !== undefined && (
        <> next {isDue(next, Date.now()) ? "as soon as there is room" : <When at={new Date(next).toISOString()} isBrief />}</>
      )}
    </span>
  );
}

/** The outcome of a delivery's last finished attempt, how many there were, and how long it took. */
export function LastAttempt({ delivery }: { readonly delivery: Delivery }) {
  const { last_outcome, last_http_status } = delivery;
  if (last_outcome === null) return "None yet";
  return (
    <Lines>
      {outcomeText(last_outcome, last_http_status)}
      <span>{attemptsText(delivery)}</span>
    </Lines>
  );
}

/** Says that a delivery is not the first of its event to its receiver: part of a replay, or sent again by hand. */
export function Marks({ delivery: { replay_id, repeat_of } }: { readonly delivery: Delivery }) {
  const marks = [replay_id !== null && "Replay", repeat_of !== null && "Sent again"].filter((mark) => mark !== false);
  return marks.map((mark) => (
    <span key={mark} className={styles["mark"]}>
      {mark}
    </span>
  ));
}
