import type { Receiver } from "@brand-records/console-contract";
import { useQueries } from "@tanstack/react-query";
import { query } from "../../api/queries.ts";
import { useBrand } from "../../api/brand.ts";

/**
 * Returns whether a receiver has ever accepted a delivery, as far as deliveries are kept; undefined until that is known. A receiver that
 * fails now has not lost its step.
 */
export function useHasAccepted(receivers: readonly Receiver[]): boolean | undefined {
  const { ofBrand } = useBrand();
  const acceptedLast = receivers.some(({ last_outcome }) => last_outcome === "accepted");
  const uncertain = acceptedLast ? [] : receivers.filter(({ last_delivery_at }) => last_delivery_at !== null);
  const delivered = useQueries({
    queries: uncertain.map(({ id }) => query("deliveries.list", { ...ofBrand, receiver_id: id, states: ["delivered"] })),
  });
  if (acceptedLast || delivered.some(({ data }) => data !== undefined && data.deliveries.length > 0)) return true;
  return delivered.some(({ isPending }) => isPending) ? undefined : false;
}
