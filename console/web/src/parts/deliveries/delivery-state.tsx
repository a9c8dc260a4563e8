import type { Delivery } from "@brand-records/console-contract";
import { StateBadge } from "../state-badge.tsx";
import { When } from "../when.tsx";
import { isDue, nextAttemptAt, retryText } from "./retry-text.ts";

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
