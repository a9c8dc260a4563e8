import type { Receiver } from "@brand-records/console-contract";
import { Text } from "@mantine/core";
import { Facts } from "../../parts/facts.tsx";
import { explanationOf, stateOf } from "../../parts/receivers/receiver-state.ts";
import { StateBadge } from "../../parts/state-badge.tsx";

/** A receiver's settings, to read. */
export function MemberSettings({ receiver }: { readonly receiver: Receiver }) {
  const { label, url, events, max_in_flight, rotating } = receiver;
  return (
    <>
      <Text size="sm" c="dimmed">
        Owners of the brand change these settings. The URL shows without its path, which may contain a token.
      </Text>
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
