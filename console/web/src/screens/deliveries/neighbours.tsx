import type { Delivery, Input, Output } from "@brand-records/console-contract";
import { Group } from "@mantine/core";
import { useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useBrand } from "../../api/brand.ts";
import { query } from "../../api/queries.ts";
import { ButtonLink } from "../../parts/links.tsx";
import { neighboursIn, type NeighbourIds } from "./neighbours-in.ts";

/** Leads to the deliveries beside this one: in the list that the person came from, with its filters, or else in the receiver's. */
export function Neighbours({ delivery: { id, receiver_id } }: { readonly delivery: Delivery }) {
  const { ofBrand } = useBrand();
  const client = useQueryClient();
  const scope = { ...ofBrand, receiver_id };
  const seen = inListsRead(client, id, receiver_id);
  const first = useQuery({ ...query("deliveries.list", scope), enabled: seen === undefined, staleTime: Number.POSITIVE_INFINITY });
  const known = seen ?? (first.data && neighboursIn(first.data, id, true));
  const isOlderUnknown = (seen !== undefined || first.data !== undefined) && known?.older === undefined;
  const after = useQuery({
    ...query("deliveries.list", { ...scope, after_id: id }),
    enabled: isOlderUnknown,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const older = known?.older ?? after.data?.deliveries[0]?.id;
  return (
    <Group gap="xs">
      <To id={known?.newer}>Newer</To>
      <To id={older}>Older</To>
    </Group>
  );
}

/** The last list that was read and has the delivery. */
function inListsRead(client: QueryClient, id: string, receiverId: string): NeighbourIds | undefined {
  return client
    .getQueryCache()
    .findAll({ queryKey: ["deliveries.list"] })
    .toSorted((a, b) => b.state.dataUpdatedAt - a.state.dataUpdatedAt)
    .map(({ queryKey: [, key], state }) => {
      const { receiver_id, after_id } = key as Input<"deliveries.list">;
      const data = state.data as Output<"deliveries.list"> | undefined;
      return receiver_id === receiverId && data !== undefined ? neighboursIn(data, id, after_id === undefined) : undefined;
    })
    .find((found) => found !== undefined);
}

const To = ({ id, children }: { readonly id: string | null | undefined; readonly children: string }) =>
  id == null ? null : (
    <ButtonLink to="/developers/deliveries/$deliveryId" params={{ deliveryId: id }} variant="subtle" size="sm">
      {children}
    </ButtonLink>
  );
