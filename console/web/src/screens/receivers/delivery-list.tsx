import type { Delivery, Input, Receiver } from "@brand-records/console-contract";
import { Button, Stack, Text } from "@mantine/core";
import { useDisclosure, useIdle } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useBrand, useRead } from "../../api/queries.ts";
import { Id } from "../../parts/id.tsx";
import { FilterBar, isFiltered } from "../../parts/filters/filter-bar.tsx";
import { ButtonLink } from "../../parts/links.tsx";
import { loadedDialog } from "../../parts/loaded-part.tsx";
import { LastAttempt, DeliveryState, Marks } from "../../parts/deliveries/delivery-cells.tsx";
import { Lines, Rows, type Column } from "../../parts/rows.tsx";
import { Pager } from "../../parts/paged-rows.tsx";
import { EmptyState, FormError, NotRead } from "../../parts/states.tsx";
import { When } from "../../parts/when.tsx";
import { DELIVERY_FILTERS, listFilter } from "./delivery-filters.ts";
import { pollMs, UNUSED_AFTER_MS } from "../../parts/deliveries/polling.ts";

const SendShown = loadedDialog(async () => (await import("./send-shown.tsx")).SendShown);

const route = getRouteApi("/shell/developers/receivers/$receiverId");

/** A receiver's deliveries, newest first, with the filters in the URL. The first page keeps itself current; the others say what is new. */
export function DeliveryList({ receiver }: { readonly receiver: Receiver }) {
  const { after, ...values } = route.useSearch();
  const scope = { receiver_id: receiver.id };
  const firstPage = { ...scope, ...listFilter(values) };
  const isFirst = after === undefined;
  const isLive = !useIdle(UNUSED_AFTER_MS, { initialState: false });

  const { data, error, refetch, isPlaceholderData } = useRead("deliveries.list", isFirst ? firstPage : { ...firstPage, after_id: after }, {
    refetchInterval: (read) => isFirst && pollMs(read?.deliveries, { isLive }),
    scope,
  });
  useReadReceiverWith(data?.deliveries);

  let content = <NotRead error={error} refetch={refetch} />;
  if (data !== undefined) {
    content =
      data.deliveries.length === 0 ? (
        <NoDeliveries isFiltered={isFiltered(DELIVERY_FILTERS, values)} isFirst={isFirst} hasOlder={data.next_after_id !== null} />
      ) : (
        <Rows label="Deliveries" columns={columns(data.paused_until)} rows={data.deliveries} keyOf={({ id }) => id} />
      );
  }

  return (
    <Stack gap="sm">
      <Text component="h2" fw={650}>
        Deliveries
      </Text>
      <FilterBar filters={DELIVERY_FILTERS} values={values} />
      {isFiltered(DELIVERY_FILTERS, values) && (
        <SendTheseAgain receiver={receiver} deliveries={sendable((!isPlaceholderData && data?.deliveries) || [])} />
      )}
      {!isFirst && <NewDeliveries key={JSON.stringify(firstPage)} input={firstPage} />}
      <Pager label="Deliveries" param="after" page={after} next={data?.next_after_id ?? null} isLoading={isPlaceholderData}>
        {data !== undefined && <FormError error={error} />}
        {content}
      </Pager>
    </Stack>
  );
}

/** What has finished, tests apart: the newest delivery of each event. */
const sendable = (deliveries: readonly Delivery[]): Delivery[] => [
  ...new Map(
    deliveries
      .filter(({ state, test }) => !test && (state === "delivered" || state === "failed"))
      .toReversed()
      .map((delivery) => [delivery.event_id, delivery]),
  ).values(),
];

/** Lets an owner send what the filters have found. */
function SendTheseAgain({ receiver, deliveries }: { readonly receiver: Receiver; readonly deliveries: readonly Delivery[] }) {
  const { isOwner } = useBrand();
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      {isOwner && deliveries.length > 0 && (
        <Button variant="default" size="xs" style={{ alignSelf: "flex-start" }} onClick={open}>
          Send {deliveries.length === 1 ? "this one" : `these ${deliveries.length}`} again
        </Button>
      )}
      {isOpen && <SendShown receiver={receiver} deliveries={deliveries} onClose={close} />}
    </>
  );
}

/** The receiver's counts, its state and its attempts by hour change with its deliveries: reads them at once, not with their own next turn. */
function useReadReceiverWith(deliveries: readonly Delivery[] | undefined): void {
  const client = useQueryClient();
  const shown = deliveries?.map(({ id, state, attempts }) => [id, state, attempts].join()).join(";");
  const before = useRef(shown);
  useEffect(() => {
    if (before.current !== undefined && before.current !== shown) {
      for (const name of ["receivers.get", "deliveries.stats"]) void client.invalidateQueries({ queryKey: [name] });
    }
    before.current = shown;
  }, [client, shown]);
}

/** Says on a later page whether there are deliveries newer than those that were there when the person went to it. */
function NewDeliveries({ input }: { readonly input: Omit<Input<"deliveries.list">, "brand_id"> }) {
  const { data } = useRead("deliveries.list", input, { refetchInterval: pollMs() });
  const newest = data === undefined ? undefined : (data.deliveries[0]?.id ?? "");
  const [seen, setSeen] = useState(newest);
  if (seen === undefined && newest !== undefined) setSeen(newest);
  if (seen === undefined || newest === undefined || newest <= seen) return null;
  return (
    <ButtonLink to="." search={({ after: _newest, ...search }) => search} resetScroll={false} size="xs" style={{ alignSelf: "center" }}>
      New deliveries
    </ButtonLink>
  );
}

interface NoDeliveriesProps {
  readonly isFiltered: boolean;
  readonly isFirst: boolean;
  /** The service has looked at 2,000 deliveries for this page, and there are more. */
  readonly hasOlder: boolean;
}

function NoDeliveries({ isFiltered, isFirst, hasOlder }: NoDeliveriesProps) {
  if (hasOlder) return <EmptyState title="None of these 2,000 deliveries match">Older ones may: go on to the next page.</EmptyState>;
  if (!isFirst) return <EmptyState title="No older deliveries">The newest are on the first page.</EmptyState>;
  if (isFiltered) return <EmptyState title="No deliveries match">Change or clear the filters to see more.</EmptyState>;
  return <EmptyState title="No deliveries yet">They show here within seconds of an event. Send a test to see one.</EmptyState>;
}

const columns = (pausedUntil: string | null): Column<Delivery>[] => [
  {
    title: "Event",
    cell: (delivery) => (
      <Lines>
        <div>
          <Link className="row-link" to="/developers/deliveries/$deliveryId" params={{ deliveryId: delivery.id }}>
            {delivery.event_type}
            {delivery.test && " (test)"}
          </Link>
          <Marks delivery={delivery} />
        </div>
        {/* A test's is a sample, which no filter finds. */}
        {delivery.record_id !== null && !delivery.test && <Id id={delivery.record_id} />}
      </Lines>
    ),
  },
  { title: "State", cell: (delivery) => <DeliveryState delivery={delivery} pausedUntil={pausedUntil} /> },
  { title: "Last attempt", cell: (delivery) => <LastAttempt delivery={delivery} /> },
  { title: "Created", cell: ({ created_at }) => <When at={created_at} isExact /> },
];
