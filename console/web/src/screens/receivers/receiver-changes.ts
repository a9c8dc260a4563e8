import type { Input } from "@brand-records/console-contract";
import type { ReceiverValues } from "./receiver-form.tsx";

type Changes = Omit<Input<"receivers.update">, "brand_id" | "receiver_id">;

/** Returns the fields that differ. Text that is no whole number is sent as null, which the service refuses at that field. */
export function changesOf(before: ReceiverValues, { url, label, events, maxInFlight }: ReceiverValues): Changes {
  return {
    ...(url.trim() !== before.url && { url: url.trim() }),
    ...(label.trim() !== before.label && { label: label.trim() }),
    ...(events.toSorted().join() !== before.events.toSorted().join() && { events }),
    ...(maxInFlight !== before.maxInFlight && { max_in_flight: maxInFlight?.trim() ? Number(maxInFlight) : Number.NaN }),
  };
}
