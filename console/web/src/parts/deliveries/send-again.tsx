import type { Delivery } from "@brand-records/console-contract";
import { Button, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useChange } from "../../api/queries.ts";
import { FormError } from "../states.tsx";
import { announce } from "../status-region.tsx";
import { useBrand } from "../../api/brand.ts";

const JUST_SENT = "It was sent again a moment ago. Wait five seconds to send it once more.";

export interface SendAgainProps {
  readonly delivery: Delivery;
  /** Tells several buttons of a page apart. */
  readonly to?: string;
}

/** Sends a delivery's event to its receiver once more, then shows that delivery. There is none while an attempt is in progress. */
export function SendAgain({ delivery: { id, state }, to }: SendAgainProps) {
  const { ofBrand } = useBrand();
  const navigate = useNavigate();
  const replay = useChange("deliveries.replay", ["deliveries.get", "deliveries.list", "events.get"]);
  const isPending = state === "pending";
  const text = isPending ? "Send now" : "Send again";
  const [isRepeated, setIsRepeated] = useState(false);
  const send = (): void =>
    replay.mutate(
      { ...ofBrand, delivery_id: id },
      {
        onSuccess: ({ delivery }) => {
          // Pressed twice: the service sends nothing once more.
          const isNothingSent = delivery.id === id && delivery.finished_at !== null;
          setIsRepeated(isNothingSent);
          if (isNothingSent) return announce(JUST_SENT);
          announce(isPending ? "Due now" : "Sending again");
          void navigate({ to: "/developers/deliveries/$deliveryId", params: { deliveryId: delivery.id } });
        },
      },
    );
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
      {isRepeated && <Text size="sm">{JUST_SENT}</Text>}
      <FormError error={replay.error} />
    </div>
  );
}
