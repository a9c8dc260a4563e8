import type { Input } from "@brand-records/console-contract";
import type { ReceiverValues } from "./receiver-form.tsx";

type Changes = Omit<Input<"receivers.update">, "brand_id" | "receiver_id">;

/**
 * Returns the fields that differ. Text that is no whole number is sent as null, which the service refuses at that field.
 *
 * @param uncertain fields to return in any case: which value is stored is not known
 */
export function changesOf(
  before: ReceiverValues,
  { url, label, events, maxInFlight }: ReceiverValues,
  uncertain: readonly string[] = [],
): Changes {
  const differs = (field: keyof Changes, isOther: boolean): boolean => isOther || uncertain.includes(field);
  return {
    ...(differs("url", url.trim() !== before.url) && { url: url.trim() }),
    ...(differs("label", label.trim() !== before.label) && { label: label.trim() }),
    ...(differs("events", events.toSorted().join() !== before.events.toSorted().join()) && { events }),
    ...(differs("max_in_flight", maxInFlight !== before.maxInFlight) && {
      max_in_flight: maxInFlight?.trim() ? Number(maxInFlight) : Number.NaN,
    }),
  };
}
