import type { Receiver } from "@brand-records/console-contract";
import { Button, Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense, useState, type ReactNode } from "react";
import { countOf } from "../../parts/counts.ts";
import { Facts } from "../../parts/facts.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { When } from "../../parts/when.tsx";
import { useBrand } from "../../api/brand.ts";
import { EditReceiver } from "./edit-receiver.tsx";
import { ReceiverPage } from "./receiver-page.tsx";
import { explanationOf, stateOf } from "../../parts/receivers/receiver-state.ts";
import { RotateSecret } from "./rotate-secret.tsx";
import styles from "./settings.module.css";

// Dialogs are a twentieth of the page's scripts, and few visits open one.
const DeleteReceiver = lazy(async () => ({ default: (await import("./delete-receiver.tsx")).DeleteReceiver }));
const EnableReceiver = lazy(async () => ({ default: (await import("./enable-receiver.tsx")).EnableReceiver }));
const DisableReceiver = lazy(async () => ({ default: (await import("./enable-receiver.tsx")).DisableReceiver }));

/** What an owner changes about a receiver; members see it. */
export function ReceiverSettings() {
  const { receiverId } = getRouteApi("/shell/developers/receivers/$receiverId/settings").useParams();
  const { isOwner } = useBrand();
  return (
    <ReceiverPage receiverId={receiverId} title={({ label }) => `Settings of ${label}`}>
      {(receiver) => (isOwner ? <OwnerSettings receiver={receiver} /> : <MemberSettings receiver={receiver} />)}
    </ReceiverPage>
  );
}

function OwnerSettings({ receiver }: { readonly receiver: Receiver }) {
  const [open, setOpen] = useState<"enable" | "disable" | "delete">();
  const close = (): void => setOpen(undefined);
  return (
    <>
      <Section title="Receiver">
        <EditReceiver receiver={receiver} />
      </Section>
      <Section title="Signing secret">
        <RotateSecret receiver={receiver} />
      </Section>
      <Section title="Sending">
        <Text size="sm">
          <StateBadge state={stateOf(receiver)} /> {explanationOf(receiver)} {receiver.enabled || <Held receiver={receiver} />}
        </Text>
        <Button variant="default" onClick={() => setOpen(receiver.enabled ? "disable" : "enable")}>
          {receiver.enabled ? "Disable" : "Enable"}
        </Button>
      </Section>
      <Section title="Delete">
        <Text size="sm">Deliveries that wait are dropped. To stop for a while and lose nothing, disable the receiver instead.</Text>
        <Button variant="default" c="var(--mantine-color-error)" onClick={() => setOpen("delete")}>
          Delete receiver
        </Button>
      </Section>
      <Suspense>
        {open === "enable" && <EnableReceiver receiver={receiver} onClose={close} />}
        {open === "disable" && <DisableReceiver receiver={receiver} onClose={close} />}
        {open === "delete" && <DeleteReceiver receiver={receiver} onClose={close} />}
      </Suspense>
    </>
  );
}

const Held = ({ receiver: { disabled_at, waiting } }: { readonly receiver: Receiver }) => (
  <>
    {disabled_at !== null && (
      <>
        since <When at={disabled_at} />
      </>
    )}
    . {countOf(waiting, "delivery is", "deliveries are")} held.
  </>
);

function MemberSettings({ receiver }: { readonly receiver: Receiver }) {
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

const Section = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <section className={styles["section"]} aria-label={title}>
    <Text component="h2" fw={650}>
      {title}
    </Text>
    {children}
  </section>
);
