import type { Receiver } from "@brand-records/console-contract";
import { Button, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { POLL_MS, useBrand, useRead } from "../../api/queries.ts";
import { countText } from "../../parts/formats.ts";
import { Breakable } from "../../parts/breakable.tsx";
import { Lines, Rows, type Column } from "../../parts/rows.tsx";
import { ButtonLink, GuideLink } from "../../parts/links.tsx";
import { Page } from "../../parts/page.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { EmptyState, FormError, NotRead } from "../../parts/states.tsx";
import { When } from "../../parts/when.tsx";
import { Eligibility, useMayIntegrate } from "../../parts/eligibility.tsx";
import { explanationOf, lastAttemptText, stateOf } from "../../parts/receivers/receiver-state.ts";

const RECEIVERS_MAX = 20;

export default function Receivers() {
  const { isOwner } = useBrand();
  const isEligible = useMayIntegrate();
  const register = isOwner && isEligible && <ButtonLink to="/developers/receivers/new">Register receiver</ButtonLink>;
  const { data, error, refetch } = useRead("receivers.list", {}, { refetchInterval: POLL_MS });
  const isFull = register !== false && data !== undefined && data.receivers.length >= RECEIVERS_MAX;
  let content = <NotRead error={error} refetch={refetch} />;
  if (data !== undefined) {
    content =
      data.receivers.length === 0 ? (
        <EmptyState title="No receivers yet" action={register}>
          Register an HTTPS address, and events reach your systems within seconds. Each brand can have {RECEIVERS_MAX}. {WRITING_ONE}
        </EmptyState>
      ) : (
        <>
          <Rows label="Receivers" columns={COLUMNS} rows={data.receivers} keyOf={({ id }) => id} />
          <Text fz="sm" c="dimmed" lh={1.55}>
            {data.receivers.length} of {RECEIVERS_MAX} receivers. {WRITING_ONE}
          </Text>
        </>
      );
  }
  return (
    <Page of="receivers" actions={data !== undefined && data.receivers.length > 0 && (isFull ? FULL : register)}>
      <Eligibility />
      {content}
      {data !== undefined && <FormError error={error} />}
    </Page>
  );
}

/** In place of the link that registers one more: it says why there is none. */
const FULL = (
  <Button aria-disabled data-disabled>
    {RECEIVERS_MAX} receivers are the limit: delete one to register another
  </Button>
);

const WRITING_ONE = <GuideLink to="webhooks">How to write one</GuideLink>;

const COLUMNS: Column<Receiver>[] = [
  {
    title: "Receiver",
    cell: ({ id, label, url }) => (
      <Lines>
        <Link className="row-link" to="/developers/receivers/$receiverId" params={{ receiverId: id }}>
          <Breakable of={label} />
        </Link>
        <Breakable of={url} />
      </Lines>
    ),
  },
  { title: "Events", cell: ({ events }) => events.join(", ") },
  {
    title: "State",
    cell: (receiver) => (
      <Lines>
        <span>
          <StateBadge state={stateOf(receiver)} />
        </span>
        {explanationOf(receiver) !== undefined && <span>{explanationOf(receiver)}</span>}
      </Lines>
    ),
  },
  {
    title: "Last attempt",
    cell: (receiver) =>
      receiver.last_delivery_at === null ? (
        "None yet"
      ) : (
        <Lines>
          <When at={receiver.last_delivery_at} />
          {receiver.last_outcome !== null && <span>{lastAttemptText(receiver)}</span>}
        </Lines>
      ),
  },
  {
    title: "Waiting",
    cell: ({ waiting, enabled }) => (
      <Lines>
        {countText(waiting)}
        {!enabled && waiting > 0 && <span>held</span>}
      </Lines>
    ),
  },
];
