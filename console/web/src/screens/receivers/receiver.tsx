import type { Receiver as ReceiverData } from "@brand-records/console-contract";
import { Button, Group } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { Breakable } from "../../parts/breakable.tsx";
import { CopyableId } from "../../parts/copyable.tsx";
import { countText } from "../../parts/formats.ts";
import { Facts } from "../../parts/facts.tsx";
import { loadedDialog } from "../../parts/loaded-part.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { When } from "../../parts/when.tsx";
import { DeliveryList } from "./delivery-list.tsx";
import { AttemptBars } from "./attempt-bars.tsx";
import { ReceiverPage } from "./receiver-page.tsx";
import { explanationOf, lastAttemptText, stateOf } from "../../parts/receivers/receiver-state.ts";
import styles from "./receiver.module.css";
import { useBrand } from "../../api/queries.ts";

const SendTest = loadedDialog(async () => (await import("./receiver-dialogs.tsx")).SendTest);
const EnableReceiver = loadedDialog(async () => (await import("./receiver-dialogs.tsx")).EnableReceiver);

/** What a receiver got, and how it did. */
export default function Receiver() {
  const { receiverId } = getRouteApi("/shell/developers/receivers/$receiverId").useParams();
  const { isOwner } = useBrand();
  return (
    <ReceiverPage receiverId={receiverId} title={({ label }) => label} actions={(receiver) => isOwner && <Actions receiver={receiver} />}>
      {(receiver) => (
        <>
          <ReceiverLine receiver={receiver} />
          <AttemptBars receiverId={receiver.id} />
          <DeliveryList receiver={receiver} />
        </>
      )}
    </ReceiverPage>
  );
}

function Actions({ receiver }: { readonly receiver: ReceiverData }) {
  const [open, setOpen] = useState<"test" | "enable">();
  const close = (): void => setOpen(undefined);
  return (
    <Group gap="xs">
      {!receiver.enabled && <Button onClick={() => setOpen("enable")}>Enable</Button>}
      <Button variant={receiver.enabled ? "filled" : "default"} onClick={() => setOpen("test")}>
        Send test
      </Button>
      {open === "test" && <SendTest receiver={receiver} onClose={close} />}
      {open === "enable" && <EnableReceiver receiver={receiver} onClose={close} />}
    </Group>
  );
}

/** How the receiver does, on one line; what seldom changes is folded. */
function ReceiverLine({ receiver }: { readonly receiver: ReceiverData }) {
  const { id, url, events, last_delivery_at, last_outcome, failures, waiting, enabled } = receiver;
  return (
    <Group className={styles["line"] ?? ""} gap="var(--space-4) var(--space-20)" fz="sm">
      <span>
        <StateBadge state={stateOf(receiver)} /> {explanationOf(receiver)}
      </span>
      <span>
        {last_delivery_at === null ? (
          "No attempt yet"
        ) : (
          <>
            Last attempt <When at={last_delivery_at} isExact />
            {last_outcome !== null && `, ${lastAttemptText(receiver)}`}
          </>
        )}
      </span>
      <span>
        {countText(waiting)} {enabled ? "waiting" : "held"}
      </span>
      <details className="folded">
        <summary>URL, events and id</summary>
        <Facts
          facts={[
            ["URL", <Breakable of={url} />],
            ["Events", events.join(", ")],
            ["Failed attempts since the last success", failures.toLocaleString("en-PH")],
            ["Id", <CopyableId id={id} label="receiver’s id" />],
          ]}
        />
      </details>
    </Group>
  );
}
