import type { Delivery, Receiver } from "@brand-records/console-contract";
import { Button, Group } from "@mantine/core";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { useBrand, useChange } from "../../api/queries.ts";
import { countOf, countText } from "../../parts/formats.ts";
import { loadedPart } from "../../parts/loaded-part.tsx";
import { PausedText } from "../../parts/receivers/paused-text.tsx";
import { attemptsAround, isHeldBack, totalOf } from "../../parts/receivers/waiting-progress.ts";
import { announce, FormError, Notice } from "../../parts/states.tsx";
import styles from "./waiting-panel.module.css";

const WaitingResult = loadedPart(async () => (await import("./waiting-result.tsx")).WaitingResult, null);

/** All deliveries that waited, when they were sent. */
export interface Sent {
  readonly receiver: Receiver;
  /** When the service had answered, in milliseconds since the epoch. */
  readonly at: number;
  /** Attempts that had failed before anything was sent; undefined if that is not known. */
  readonly failedBefore: number | undefined;
}

/** What was asked for on this page. */
export type Asked = { readonly kind: "one"; readonly delivery: Delivery } | ({ readonly kind: "all" } & Sent);

/** Says why deliveries wait at an enabled receiver, and lets owners send them now, and watch. Nothing if all is well. */
export function WaitingPanel({ receiver }: { readonly receiver: Receiver }) {
  const { isOwner, ofBrand } = useBrand();
  const [asked, setAsked] = useState<Asked>();
  const [isPressed, setIsPressed] = useState(false);
  const send = useChange("receivers.send_waiting", ["receivers.get", "receivers.list", "deliveries.list"]);
  const { id, waiting, waiting_due, paused_until, failures_in_a_row } = receiver;
  const isWaiting = isHeldBack(receiver);
  const press = async (all: boolean): Promise<void> => {
    setIsPressed(true);
    // Read before anything is sent: if no more have failed at the end, all were accepted. It keeps nothing waiting.
    const stats = all
      ? await call("deliveries.stats", { ...ofBrand, ...attemptsAround(id, Date.now()) }, { signal: AbortSignal.timeout(1_000) }).catch(
          () => undefined,
        )
      : undefined;
    send.make({ receiver_id: id, all }, ({ receiver: sent, first }) => {
      announce(all ? `Sending ${countOf(totalOf(sent), "delivery", "deliveries")}` : "Trying one delivery");
      if (first === null) return;
      const failedBefore = stats?.total.failed;
      setAsked(all ? { kind: "all", receiver: sent, at: Date.now(), failedBefore } : { kind: "one", delivery: first });
    });
    setIsPressed(false);
  };
  const button = (text: string, all: boolean) => (
    <Button
      variant="default"
      size="xs"
      onClick={() => void press(all)}
      loading={send.isPending && send.variables.all === all}
      disabled={send.isPending || isPressed}
    >
      {text}
    </Button>
  );
  if (paused_until === null && !isWaiting && asked === undefined) return null;
  return (
    <Notice tone={isWaiting || paused_until !== null ? "waiting" : "note"} isWide>
      <div className={styles["panel"]}>
        {paused_until !== null && (
          <span>
            <PausedText until={paused_until} failuresInARow={failures_in_a_row} />
          </span>
        )}
        {paused_until === null && isWaiting && (
          <span>{countOf(waiting - waiting_due, "delivery waits", "deliveries wait")} for a retry.</span>
        )}
        {asked && <WaitingResult {...asked} />}
        <FormError error={send.error} />
        {isOwner && isWaiting && (
          <Group gap="xs" className={styles["buttons"] ?? ""}>
            {paused_until !== null && button("Try now", false)}
            {button(waiting === 1 ? "Send the one waiting now" : `Send all ${countText(waiting)} waiting now`, true)}
          </Group>
        )}
      </div>
    </Notice>
  );
}
