import type { Receiver as ReceiverData } from "@brand-records/console-contract";
import { Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { query } from "../../api/queries.ts";
import { CopyableId } from "../../parts/copyable.tsx";
import { Facts } from "../../parts/facts.tsx";
import { outcomeText } from "../../parts/outcome.ts";
import { Page } from "../../parts/page.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { ErrorState, LoadingRows, Notice } from "../../parts/states.tsx";
import { When } from "../../parts/when.tsx";
import { useBrand } from "../../shell/brand.tsx";
import { DeliveryList } from "../deliveries/delivery-list.tsx";
import { NotFoundPage } from "../../shell/error-pages.tsx";
import { CallError } from "../../api/call.ts";
import { DisableReceiver, EnableReceiver } from "./enable-receiver.tsx";
import { reasonOf, stateOf } from "./receiver-state.ts";
import { ReceiversLink } from "./receivers-link.tsx";
import { SendTest } from "./send-test.tsx";

const POLL_MS = 15_000;

export function Receiver() {
  const { receiverId } = getRouteApi("/shell/developers/receivers/$receiverId").useParams();
  const { ofBrand, isOwner } = useBrand();
  const input = { ...ofBrand, receiver_id: receiverId };
  const { data, error, refetch } = useQuery({ ...query("receivers.get", input), refetchInterval: POLL_MS });
  if (data === undefined) {
    if (error instanceof CallError && error.code === "not_found") return <NotFoundPage />;
    return (
      <Page title="Receiver" parent={<ReceiversLink />}>
        {error === null ? <LoadingRows /> : <ErrorState error={error} retry={() => void refetch()} />}
      </Page>
    );
  }
  const { receiver } = data;
  return (
    <Page title={receiver.label} parent={<ReceiversLink />} actions={isOwner && <Actions receiver={receiver} />}>
      <PausedNotice receiver={receiver} />
      <ReceiverFacts receiver={receiver} />
      <DeliveryList receiverId={receiver.id} />
    </Page>
  );
}

function Actions({ receiver }: { readonly receiver: ReceiverData }) {
  const [open, setOpen] = useState<"test" | "enable" | "disable">();
  const close = (): void => setOpen(undefined);
  return (
    <Group gap="xs">
      {receiver.enabled && <Button onClick={() => setOpen("test")}>Send test</Button>}
      <Button variant="default" onClick={() => setOpen(receiver.enabled ? "disable" : "enable")}>
        {receiver.enabled ? "Disable" : "Enable"}
      </Button>
      {open === "test" && <SendTest receiver={receiver} onClose={close} />}
      {open === "enable" && <EnableReceiver receiver={receiver} onClose={close} />}
      {open === "disable" && <DisableReceiver receiver={receiver} onClose={close} />}
    </Group>
  );
}

function PausedNotice({ receiver: { paused_until, failures_in_a_row } }: { readonly receiver: ReceiverData }) {
  if (paused_until === null) return null;
  return (
    <Notice tone="warning">
      Sending is paused until <When at={paused_until} />, because {failures_in_a_row} attempts failed in a row. Then one delivery is tried.
    </Notice>
  );
}

function ReceiverFacts({ receiver }: { readonly receiver: ReceiverData }) {
  const { id, url, events, last_delivery_at, last_outcome, last_status, failures, waiting, enabled } = receiver;
  const reason = reasonOf(receiver);
  return (
    <Facts
      facts={[
        [
          "State",
          <>
            <StateBadge state={stateOf(receiver)} /> {reason}
          </>,
        ],
        ["URL", url],
        ["Events", events.join(", ")],
        [
          "Last delivery",
          last_delivery_at === null ? (
            "None yet"
          ) : (
            <>
              <When at={last_delivery_at} />
              {last_outcome !== null && `, ${outcomeText(last_outcome, last_status)}`}
            </>
          ),
        ],
        ["Failures since the last success", failures.toLocaleString("en-PH")],
        [enabled ? "Waiting" : "Held", waiting >= 100_000 ? "over 100,000" : waiting.toLocaleString("en-PH")],
        ["Id", <CopyableId id={id} label="receiver’s id" />],
      ]}
    />
  );
}
