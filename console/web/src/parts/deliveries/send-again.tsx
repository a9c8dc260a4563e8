import type { Delivery } from "@brand-records/console-contract";
import { Button, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useChange } from "../../api/queries.ts";
import { announce, FormError } from "../states.tsx";

/** Why nothing was sent. */
const JUST_SENT = "It was sent again a moment ago. Wait five seconds to send it once more.";
const FINISHED = "It has finished meanwhile, so nothing was sent.";

interface SendAgainProps {
  readonly delivery: Delivery;
  /** Tells several buttons of a page apart. */
  readonly to?: string;
}

/** Sends a delivery's event to its receiver once more, then shows that delivery. There is none while an attempt is in progress. */
export function SendAgain({ delivery: { id, state }, to }: SendAgainProps) {
  const navigate = useNavigate();
  const replay = useChange("deliveries.replay", ["deliveries.get", "deliveries.list", "events.get"]);
  const isPending = state === "pending";
  const text = isPending ? "Send now" : "Send again";
  const [notSent, setNotSent] = useState<string>();
  const send = (): void =>
    replay.make({ delivery_id: id, ...(isPending && { pending_only: true }) }, ({ delivery }) => {
      // Pressed twice, or finished since the page was read: the service sends nothing once more.
      const isNothingSent = delivery.id === id && delivery.finished_at !== null;
      const why = isPending ? FINISHED : JUST_SENT;
      setNotSent(isNothingSent ? why : undefined);
      if (isNothingSent) return announce(why);
      announce(delivery.id === id ? "Due now" : "Sending again");
      void navigate({ to: "/developers/deliveries/$deliveryId", params: { deliveryId: delivery.id } });
    });
  return (
    <div>
      {state !== "sending" && (
        <Button
          variant="default"
          size={to === undefined ? "sm" : "xs"}
          onClick={send}
          loading={replay.isPending}
          {...(to !== undefined && { "aria-label": `${text} to ${to}` })}
        >
          {text}
        </Button>
      )}
      {notSent !== undefined && <Text size="sm">{notSent}</Text>}
      <FormError error={replay.error} />
    </div>
  );
}
