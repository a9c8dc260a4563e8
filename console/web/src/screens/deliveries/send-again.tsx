import type { Delivery } from "@brand-records/console-contract";
import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useChange } from "../../api/queries.ts";
import { FormError } from "../../parts/states.tsx";
import { announce } from "../../parts/status-region.tsx";
import { useBrand } from "../../shell/brand.tsx";

/** Makes a pending delivery due now, or sends a finished one's event in a new delivery, which it then shows. */
export function SendAgain({ delivery: { id, state } }: { readonly delivery: Delivery }) {
  const { ofBrand } = useBrand();
  const navigate = useNavigate();
  const replay = useChange("deliveries.replay", ["deliveries.get", "deliveries.list"]);
  // In progress, or held until its receiver is enabled: the service would change nothing.
  if (state === "sending" || state === "held") return null;
  const isPending = state === "pending";
  const send = (): void =>
    replay.mutate(
      { ...ofBrand, delivery_id: id },
      {
        onSuccess: ({ delivery }) => {
          announce(isPending ? "Due now" : "Sending again");
          void navigate({ to: "/developers/deliveries/$deliveryId", params: { deliveryId: delivery.id } });
        },
      },
    );
  return (
    <div>
      <Button variant="default" onClick={send} loading={replay.isPending}>
        {isPending ? "Send now" : "Send again"}
      </Button>
      <FormError error={replay.error} />
    </div>
  );
}
