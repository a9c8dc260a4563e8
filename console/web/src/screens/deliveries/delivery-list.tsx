import type { Delivery } from "@brand-records/console-contract";
import { Button, Group, NativeSelect, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { query } from "../../api/queries.ts";
import { outcomeText } from "../../parts/outcome.ts";
import { Rows, type Column } from "../../parts/rows.tsx";
import { EmptyState, ErrorState, LoadingRows } from "../../parts/states.tsx";
import { When } from "../../parts/when.tsx";
import { useBrand } from "../../shell/brand.tsx";
import { DeliveryState } from "./delivery-state.tsx";
import { pollMs } from "./polling.ts";

const FILTERS = [
  { value: "", label: "All states" },
  { value: "failed", label: "Failed" },
  { value: "pending", label: "Waiting" },
  { value: "held", label: "Held" },
  { value: "delivered", label: "Delivered" },
];

const route = getRouteApi("/shell/developers/receivers/$receiverId");

/** A receiver's deliveries, newest first, with the filter in the URL. The first page keeps itself current. */
export function DeliveryList({ receiverId }: { readonly receiverId: string }) {
  const { ofBrand } = useBrand();
  const { state, after } = route.useSearch();
  const navigate = useNavigate();
  const show = (search: { readonly state?: Delivery["state"]; readonly after?: string }): void =>
    void navigate({ to: "/developers/receivers/$receiverId", params: { receiverId }, search });
  const input = { ...ofBrand, receiver_id: receiverId, ...(state && { states: [state] }), ...(after && { after_id: after }) };
  const { data, error, refetch } = useQuery({
    ...query("deliveries.list", input),
    refetchInterval: ({ state: { data, error } }) => (after === undefined ? pollMs(data?.deliveries, error) : false),
  });
  return (
    <section aria-labelledby="deliveries">
      <Group justify="space-between" mb="sm">
        <Text id="deliveries" component="h2" fw={650}>
          Deliveries
        </Text>
        <NativeSelect
          aria-label="State"
          size="xs"
          value={state ?? ""}
          onChange={({ currentTarget: { value } }) => show(value === "" ? {} : { state: value as Delivery["state"] })}
          data={FILTERS}
        />
      </Group>
      {data === undefined ? (
        error === null ? (
          <LoadingRows />
        ) : (
          <ErrorState error={error} retry={() => void refetch()} />
        )
      ) : data.deliveries.length === 0 ? (
        <EmptyState title={state === undefined ? "No deliveries yet" : "No deliveries in this state"}>
          {state === undefined ? "They show here within seconds of an event. Send a test to see one." : "Choose another state to see more."}
        </EmptyState>
      ) : (
        <>
          <Rows label="Deliveries" columns={COLUMNS} rows={data.deliveries} keyOf={({ id }) => id} />
          <Group mt="sm" gap="xs">
            {after !== undefined && (
              <Button variant="default" size="xs" onClick={() => show(state ? { state } : {})}>
                Newest
              </Button>
            )}
            {data.next_after_id !== null && (
              <Button variant="default" size="xs" onClick={() => show({ ...(state && { state }), after: data.next_after_id ?? "" })}>
                Older
              </Button>
            )}
          </Group>
        </>
      )}
    </section>
  );
}

const COLUMNS: Column<Delivery>[] = [
  {
    title: "Event",
    cell: ({ id, event_type, test }) => (
      <Link className="row-link" to="/developers/deliveries/$deliveryId" params={{ deliveryId: id }}>
        {event_type}
        {test && " (test)"}
      </Link>
    ),
  },
  { title: "State", cell: (delivery) => <DeliveryState delivery={delivery} /> },
  {
    title: "Last attempt",
    cell: ({ last_outcome, last_http_status }) => (last_outcome === null ? "None yet" : outcomeText(last_outcome, last_http_status)),
  },
  { title: "Created", cell: ({ created_at }) => <When at={created_at} /> },
];
