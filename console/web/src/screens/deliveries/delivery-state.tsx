import type { Delivery } from "@brand-records/console-contract";
import { StateBadge } from "../../parts/state-badge.tsx";
import { When } from "../../parts/when.tsx";

/** Attempts of a delivery, unless RETRY_DELAYS_SECONDS is set. */
const ATTEMPTS_MAX = 10;

/** A delivery's state; for one that is retried, which attempt is next and when. */
export function DeliveryState({ delivery: { state, attempts, due_at } }: { readonly delivery: Delivery }) {
  if (state !== "pending" || attempts === 0) return <StateBadge state={state} />;
  return (
    <span>
      <StateBadge state={state} text={`Retrying, ${attempts + 1} of ${ATTEMPTS_MAX}`} />
      {due_at !== null && (
        <>
          {" "}
          next <When at={due_at} />
        </>
      )}
    </span>
  );
}
