import type { Receiver } from "@brand-records/console-contract";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { query } from "../../api/queries.ts";
import { Page } from "../../parts/page.tsx";
import { Rows, type Column } from "../../parts/rows.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { EmptyState, ErrorState, LoadingRows } from "../../parts/states.tsx";
import { When } from "../../parts/when.tsx";
import { useBrand } from "../../shell/brand.tsx";
import { Eligibility } from "../eligibility.tsx";
import styles from "./receivers.module.css";

const RECEIVERS_MAX = 20;
const POLL_MS = 15_000;

export function Receivers() {
  const { ofBrand } = useBrand();
  const { data, error, refetch } = useQuery({ ...query("receivers.list", ofBrand), refetchInterval: POLL_MS });
  let content: ReactNode = <LoadingRows />;
  if (data !== undefined) content = data.receivers.length === 0 ? <NoReceivers /> : <ReceiverList receivers={data.receivers} />;
  else if (error !== null) content = <ErrorState error={error} retry={() => void refetch()} />;
  return (
    <Page
      title="Receivers"
      description="Addresses of yours that get a signed event when a submission is approved or rejected, a payout is paid, or a campaign is settled."
    >
      <Eligibility />
      {content}
    </Page>
  );
}

const NoReceivers = () => (
  <EmptyState title="No receivers yet">
    Register an HTTPS address, and events reach your systems within seconds. Each brand can have {RECEIVERS_MAX}.
  </EmptyState>
);

function ReceiverList({ receivers }: { readonly receivers: readonly Receiver[] }) {
  return (
    <>
      <Rows label="Receivers" columns={COLUMNS} rows={receivers} keyOf={({ id }) => id} />
      <p className={styles["count"]}>
        {receivers.length} of {RECEIVERS_MAX} receivers
      </p>
    </>
  );
}

const REASONS: Readonly<Record<string, string>> = {
  member: "by a member",
  gone: "it responded with 410 Gone",
  failing: "only failures for five days",
};

const stateOf = ({ enabled, paused_until }: Receiver) => (!enabled ? "disabled" : paused_until === null ? "enabled" : "paused");

const COLUMNS: Column<Receiver>[] = [
  {
    title: "Receiver",
    cell: ({ label, url }) => (
      <span className={styles["stack"]}>
        <strong>{label}</strong>
        <span>{url}</span>
      </span>
    ),
  },
  { title: "Events", cell: ({ events }) => events.join(", ") },
  {
    title: "State",
    cell: (receiver) => (
      <span className={styles["stack"]}>
        <span>
          <StateBadge state={stateOf(receiver)} />
        </span>
        {receiver.disabled_reason !== null && <span>{REASONS[receiver.disabled_reason]}</span>}
      </span>
    ),
  },
  {
    title: "Last delivery",
    cell: ({ last_delivery_at, last_status }) =>
      last_delivery_at === null ? (
        "None yet"
      ) : (
        <span className={styles["stack"]}>
          <When at={last_delivery_at} />
          <span>{last_status ? `HTTP ${last_status}` : "no response"}</span>
        </span>
      ),
  },
  { title: "Failures", cell: ({ failures }) => failures.toLocaleString("en-PH") },
  { title: "Waiting", cell: ({ waiting }) => (waiting >= 100_000 ? "over 100,000" : waiting.toLocaleString("en-PH")) },
];
