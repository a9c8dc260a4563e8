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
 * @param isFirst whether the page is the list's first: nothing is newer than its first row then
 */
export function neighboursIn({ deliveries, next_after_id }: List, id: Delivery["id"], isFirst: boolean): NeighbourIds | undefined {
  const index = deliveries.findIndex((delivery) => delivery.id === id);
  if (index === -1) return undefined;
  return {
    newer: deliveries[index - 1]?.id ?? (isFirst ? null : undefined),
    older: deliveries[index + 1]?.id ?? (next_after_id === null ? null : undefined),
  };
}
