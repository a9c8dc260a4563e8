import type { Delivery } from "@brand-records/console-contract";
import { StateBadge } from "../../parts/state-badge.tsx";
import { When } from "../../parts/when.tsx";
import { retryText } from "./retry-text.ts";

/** A delivery's state; for one that is retried, which attempt is next and when. */
export function DeliveryState({ delivery }: { readonly delivery: Delivery }) {
  const { state, due_at } = delivery;
  const text = retryText(delivery);
  if (text === undefined) return <StateBadge state={state} />;
  return (
    <span>
      <StateBadge state={state} text={text} />
      {due_at !== null && (
        <>
          {" "}
          next <When at={due_at} isBrief />
        </>
      )}
    </span>
  );
}
