import type { Delivery, Input, Output } from "@brand-records/console-contract";
import { Group } from "@mantine/core";
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useBrand, useRead } from "../../api/queries.ts";
import { ButtonLink } from "../../parts/links.tsx";
import { neighboursIn, type NeighbourIds } from "./neighbours-in.ts";

type ListInput = Input<"deliveries.list">;

/** Leads to the deliveries beside this one: in the list that the person came from, with its filters, or else in the receiver's. */
export function Neighbours({ delivery: { id, receiver_id } }: { readonly delivery: Delivery }) {
  const { ofBrand } = useBrand();
  const client = useQueryClient();
  // Kept: lists that no page shows are forgotten while this one is read.
  const [seen] = useState(() => inListsRead(client, id, receiver_id));
  const list = seen?.list ?? { ...ofBrand, receiver_id };
  const first = useRead("deliveries.list", list, { enabled: seen === undefined, staleTime: Infinity });
  const known = seen ?? (first.data && neighboursIn(first.data, id, null));
  const isOlderUnknown = (seen !== undefined || first.data !== undefined) && known?.older === undefined;
  const after = useRead("deliveries.list", { ...list, after_id: id }, { enabled: isOlderUnknown, staleTime: Infinity });
  const older = known?.older ?? after.data?.deliveries[0]?.id;
  return (
    <Group gap="xs">
      <To id={known?.newer}>Newer</To>
      <To id={older}>Older</To>
    </Group>
  );
}

interface Seen extends NeighbourIds {
  /** The list's first page. */
  readonly list: ListInput;
}

/** Looks for the delivery in the lists that were read, the last one first. */
function inListsRead(client: QueryClient, id: string, receiverId: string): Seen | undefined {
  const lists = client
    .getQueryCache()
    .findAll({ queryKey: ["deliveries.list"] })
    .toSorted((a, b) => b.state.dataUpdatedAt - a.state.dataUpdatedAt)
    .map(({ queryKey: [, input], state: { data } }) => ({
      input: input as ListInput,
      data: data as Output<"deliveries.list"> | undefined,
    }));
  for (const { input, data } of lists) {
    const { after_id, ...list } = input;
    if (list.receiver_id !== receiverId || data === undefined) continue;
    // With a status, a page may begin after a delivery that is not in the list.
    const isRow = list.status_class === undefined || lists.some((other) => isIn(after_id, other.data, list.status_class, other.input));
    const before = after_id === undefined ? null : isRow ? after_id : undefined;
    const neighbours = neighboursIn(data, id, before);
    if (neighbours !== undefined) return { list, ...neighbours };
  }
  return undefined;
}

const isIn = (
  id: string | undefined,
  data: Output<"deliveries.list"> | undefined,
  status: ListInput["status_class"],
  { status_class }: ListInput,
): boolean => status_class === status && data?.deliveries.some((delivery) => delivery.id === id) === true;

const To = ({ id, children }: { readonly id: string | null | undefined; readonly children: string }) =>
  id == null ? null : (
    <ButtonLink to="/developers/deliveries/$deliveryId" params={{ deliveryId: id }} variant="subtle" size="sm">
      {children}
    </ButtonLink>
  );
