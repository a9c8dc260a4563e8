import type { Output, Delivery } from "@brand-records/console-contract";

interface EventRecord {
  readonly id: string;
  /** Absent if the event is about the campaign itself. */
  readonly campaignId: string | undefined;
  /** Such as "processing → paid"; absent if the event does not have both. */
  readonly change: string | undefined;
}

/** Reads the record that an event is about from its data. Undefined for data that names none. */
export function recordOf(dataJson: string): EventRecord | undefined {
  let data: Readonly<Record<string, unknown>> | null;
  try {
    data = JSON.parse(dataJson) as Readonly<Record<string, unknown>> | null;
  } catch {
    // The page shows the body as it is.
    return undefined;
  }
  const { id, campaign_id, previous_status, status } = data ?? {};
  if (typeof id !== "string") return undefined;
  return {
    id,
    campaignId: typeof campaign_id === "string" && campaign_id !== id ? campaign_id : undefined,
    change: typeof previous_status === "string" && typeof status === "string" ? `${previous_status} → ${status}` : undefined,
  };
}

type Counts = Pick<Output<"events.list">["events"][number], "receivers" | "receivers_accepted">;

/** "3 of 5": the receivers that accepted an event, of those that it goes to. Empty if none were counted. */
export function deliveredText({ receivers, receivers_accepted }: Counts): string {
  if (receivers === null || receivers_accepted === null) return "";
  return receivers === 0 ? "No receiver" : `${receivers_accepted} of ${receivers}`;
}

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
