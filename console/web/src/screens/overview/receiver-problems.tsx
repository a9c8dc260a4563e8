import type { Receiver } from "@brand-records/console-contract";
import { Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Breakable } from "../../parts/breakable.tsx";
import { Rows, type Column } from "../../parts/rows.tsx";
import { countText } from "../../parts/formats.ts";
import { outcomeText } from "../../parts/deliveries/delivery-texts.ts";
import { StateBadge } from "../../parts/state-badge.tsx";
import { Until } from "../../parts/until.tsx";
import { When } from "../../parts/when.tsx";
import { explanationOf, reasonOf, stateOf } from "../../parts/receivers/receiver-state.ts";

/** The receivers that miss events now. Nothing if there are none. */
export function ReceiverProblems({ receivers }: { readonly receivers: readonly Receiver[] }) {
  const rows = receivers.filter((receiver) => stateOf(receiver) !== "enabled");
  if (rows.length === 0) return null;
  return (
    <Stack component="section" gap="var(--space-8)" aria-label="Receivers that need attention">
      <Text component="h2" fw={600}>
        {rows.length === 1 ? "One receiver needs attention" : `${rows.length} receivers need attention`}
      </Text>
      <Rows label="Receivers that need attention" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
    </Stack>
  );
}

const COLUMNS: Column<Receiver>[] = [
  {
    title: "Receiver",
    cell: ({ id, label }) => (
      <Link className="row-link" to="/developers/receivers/$receiverId" params={{ receiverId: id }}>
        <Breakable of={label} />
      </Link>
    ),
  },
  { title: "State", cell: (receiver) => <StateBadge state={stateOf(receiver)} /> },
  { title: "Why", cell: (receiver) => <Why receiver={receiver} /> },
  { title: "Waiting", cell: ({ waiting, enabled }) => `${countText(waiting)}${enabled ? "" : " held"}` },
];

const sentence = (text = ""): string => text.slice(0, 1).toUpperCase() + text.slice(1);

function Why({ receiver }: { readonly receiver: Receiver }) {
  const { enabled, disabled_at, paused_until, last_outcome, last_status } = receiver;
  if (!enabled) {
    return (
      <span>
        Disabled <When at={disabled_at} /> {reasonOf(receiver)}
      </span>
    );
  }
  return (
    <span>
      {sentence(explanationOf(receiver))}
      {last_outcome !== null && last_outcome !== "accepted" && `: ${outcomeText(last_outcome, last_status)}`}
      {paused_until !== null && (
        <Until at={paused_until} afterwards=". It is tried again now">
          <When before=". Next try " at={paused_until} />
        </Until>
      )}
    </span>
  );
}
