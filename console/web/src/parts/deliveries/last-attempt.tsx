import type { Delivery } from "@brand-records/console-contract";
import { Lines } from "../lines.tsx";
import { attemptsText } from "./attempts-text.ts";
import { outcomeText } from "./outcome.ts";

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
