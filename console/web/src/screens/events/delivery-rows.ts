import type { Delivery, Output } from "@brand-records/console-contract";

export interface DeliveryRow {
  readonly delivery: Delivery;
  /** Null if the receiver was deleted, like the host. */
  readonly label: string | null;
  readonly host: string | null;
  readonly pausedUntil: string | null;
  /** The newest delivery to its receiver: the one that is sent again. */
  readonly isNewest: boolean;
}

/** Returns the deliveries of an event to all receivers in one list, oldest first: one that is added moves none that shows. */
export const deliveryRows = (receivers: Output<"events.get">["receivers"]): DeliveryRow[] =>
  receivers
    .flatMap(({ label, host, paused_until, deliveries }) =>
      deliveries.map((delivery, index) => ({ delivery, label, host, pausedUntil: paused_until, isNewest: index === 0 })),
    )
    .toSorted((one, other) => (one.delivery.id < other.delivery.id ? -1 : 1));
