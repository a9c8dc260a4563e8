import type { Delivery, Output } from "@brand-records/console-contract";

type List = Output<"deliveries.list">;

export interface NeighbourIds {
  /** Null: there is none. Undefined: not known. */
  readonly newer: string | null | undefined;
  readonly older: string | null | undefined;
}

/**
 * The deliveries before and after one in a page of a list, which is newest first; undefined if the page has not the delivery.
 *
 * @param before the last delivery of the page before; null: the page is the list's first; undefined: not known
 */
export function neighboursIn(
  { deliveries, next_after_id }: List,
  id: Delivery["id"],
  before: Delivery["id"] | null | undefined,
): NeighbourIds | undefined {
  const index = deliveries.findIndex((delivery) => delivery.id === id);
  if (index === -1) return undefined;
  return {
    newer: index === 0 ? before : deliveries[index - 1]?.id,
    older: deliveries[index + 1]?.id ?? (next_after_id === null ? null : undefined),
  };
}
