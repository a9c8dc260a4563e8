import type { Receiver } from "@brand-records/console-contract";
import { Button, Stack, Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { countOf } from "../../parts/formats.ts";
import { Breakable } from "../../parts/breakable.tsx";
import { Facts } from "../../parts/facts.tsx";
import { loadedDialog, loadedPart } from "../../parts/loaded-part.tsx";
import { useIsSecretShown } from "../../parts/shown-secrets.ts";
import { StateBadge } from "../../parts/state-badge.tsx";
import { Hint } from "../../parts/states.tsx";
import { When } from "../../parts/when.tsx";
import { EditReceiver } from "./edit-receiver.tsx";
import { ReceiverPage } from "./receiver-page.tsx";
import { explanationOf, stateOf } from "../../parts/receivers/receiver-state.ts";
import styles from "./receiver-page.module.css";
import { useBrand } from "../../api/queries.ts";

// What is below the fold, and dialogs, which few visits open.
const RotateSecret = loadedPart(async () => (await import("./rotate-secret.tsx")).RotateSecret);
const DeleteReceiver = loadedDialog(async () => (await import("./receiver-dialogs.tsx")).DeleteReceiver);
const EnableReceiver = loadedDialog(async () => (await import("./receiver-dialogs.tsx")).EnableReceiver);
const DisableReceiver = loadedDialog(async () => (await import("./receiver-dialogs.tsx")).DisableReceiver);

/** What an owner changes about a receiver; members see it. */
export default function ReceiverSettings() {
  const { receiverId } = getRouteApi("/shell/developers/receivers/$receiverId/settings").useParams();
  const { isOwner } = useBrand();
  const isSecretShown = useIsSecretShown();
  const mayChange = isOwner || isSecretShown;
  return (
    <ReceiverPage receiverId={receiverId} title={({ label }) => `Settings of ${label}`}>
      {(receiver) => (mayChange ? <OwnerSettings receiver={receiver} /> : <MemberSettings receiver={receiver} />)}
    </ReceiverPage>
  );
}

function OwnerSettings({ receiver }: { readonly receiver: Receiver }) {
  const [open, setOpen] = useState<"enable" | "disable" | "delete">();
  const close = (): void => setOpen(undefined);
  // What is below the secret appears with it: a button that moves under the pointer is missed.
  const isDue = RotateSecret.useIsDue();
  return (
    <>
      <Section title="Receiver">
        <EditReceiver receiver={receiver} />
      </Section>
      {isDue && (
        <>
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
        </>
      )}
      {open === "enable" && <EnableReceiver receiver={receiver} onClose={close} />}
      {open === "disable" && <DisableReceiver receiver={receiver} onClose={close} />}
      {open === "delete" && <DeleteReceiver receiver={receiver} onClose={close} />}
    </>
  );
}

const Held = ({ receiver: { disabled_at, waiting } }: { readonly receiver: Receiver }) => (
  <>
    <When before="since " at={disabled_at} />. {countOf(waiting, "delivery is", "deliveries are")} held.
  </>
);

const Section = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <Stack component="section" className={`${styles["section"]} framed`} align="flex-start" gap="sm" p="lg" aria-label={title}>
    <Text component="h2" fw={650}>
      {title}
    </Text>
    {children}
  </Stack>
);

/** A receiver's settings, to read. */
function MemberSettings({ receiver }: { readonly receiver: Receiver }) {
  const { label, url, events, max_in_flight, rotating } = receiver;
  return (
    <>
      <Hint>Owners of the brand change these settings. The URL shows without its path, which may contain a token.</Hint>
      <Facts
        facts={[
          ["Label", label],
          ["URL", <Breakable of={url} />],
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
