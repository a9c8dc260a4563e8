import type { Receiver } from "@brand-records/console-contract";
import { Facts } from "../../parts/facts.tsx";
import { explanationOf, stateOf } from "../../parts/receivers/receiver-state.ts";
import { StateBadge } from "../../parts/state-badge.tsx";
import { Hint } from "../../parts/states.tsx";

/** A receiver's settings, to read. */
export function MemberSettings({ receiver }: { readonly receiver: Receiver }) {
  const { label, url, events, max_in_flight, rotating } = receiver;
  return (
    <>
      <Hint>Owners of the brand change these settings. The URL shows without its path, which may contain a token.</Hint>
      <Facts
        facts={[
          ["Label", label],
          ["URL", url],
          ["Events", events.join(", ")],
          ["Attempts in flight", `At most ${max_in_flight}`],
          [
            "State",
            <>
              <StateBadge state={stateOf(receiver)} /> {explanationOf(receiver)}
            </>,
          ],
          ["Signing secret", rotating ? "Being rotated: deliveries have two signatures" : "In force"],
        ]}
      />
    </>
  );
}
