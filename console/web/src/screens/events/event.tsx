import type { Output } from "@brand-records/console-contract";
import { Text } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { isGone } from "../../api/call.ts";
import { useBrand, useRead } from "../../api/queries.ts";
import { AnchorLink, ButtonLink } from "../../parts/links.tsx";
import { BodyAsSent } from "../../parts/deliveries/preformatted.tsx";
import { Breakable } from "../../parts/breakable.tsx";
import { Id } from "../../parts/id.tsx";
import { CopyableId } from "../../parts/copyable.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Page } from "../../parts/page.tsx";
import { EmptyState, FormError, Notice, NotRead } from "../../parts/states.tsx";
import { When } from "../../parts/when.tsx";
import { pollMs } from "../../parts/deliveries/polling.ts";
import { recordOf, deliveryRows, type DeliveryRow } from "./event-rows.ts";
import { LastAttempt, DeliveryState, Marks } from "../../parts/deliveries/delivery-cells.tsx";
import { Lines, Rows, type Column } from "../../parts/rows.tsx";
import { SendAgain } from "../../parts/deliveries/send-again.tsx";

/** One event with its deliveries: where the `dashboard_url` of a delivered body leads. */
export default function Event() {
  const { eventId } = getRouteApi("/shell/developers/events/$eventId").useParams();
  const { data, error, refetch } = useRead(
    "events.get",
    { event_id: eventId },
    { refetchInterval: (read) => pollMs(read?.receivers.flatMap(({ deliveries }) => deliveries)) },
  );
  if (data !== undefined) return <EventPage data={data} error={error} />;
  if (isGone(error)) return <GonePage />;
  return (
    <Page of="event" parent="events" isLoading>
      <NotRead error={error} refetch={refetch} />
    </Page>
  );
}

const GonePage = () => (
  <Page title="Event not found" parent="events">
    <EmptyState title="Nothing is here" action={<ButtonLink to="/developers/events">Show the events</ButtonLink>}>
      An event is kept for 30 days. This one is older, it does not exist, or it belongs to a brand that you are not a member of.
    </EmptyState>
  </Page>
);

/** @param error why it was not read again */
function EventPage({ data, error }: { readonly data: Output<"events.get">; readonly error: Error | null }) {
  const { event, body, receivers, has_more_deliveries } = data;
  const { id, type, test, created_at, data_json } = event;
  const { isOwner } = useBrand();
  const record = recordOf(data_json);
  return (
    <Page title={test ? `${type} (test)` : type} parent="events">
      {test && <Notice>A test with sample data. Nothing has happened to any record.</Notice>}
      <Facts
        facts={[
          ["Created", <When at={created_at} isExact />],
          ["Event", <CopyableId id={id} label="event’s id" />],
          record !== undefined && ["Record", <CopyableId id={record.id} label="record’s id" />],
          record?.change !== undefined && ["Status", record.change],
          record?.campaignId !== undefined && ["Campaign", <CopyableId id={record.campaignId} label="campaign’s id" />],
          record !== undefined &&
            !test && [
              "Same record",
              <AnchorLink to="/developers/events" search={{ record_id: record.id }} size="sm">
                All events of this record
              </AnchorLink>,
            ],
        ]}
      />
      <section aria-labelledby="deliveries">
        <Text id="deliveries" component="h2" fw={650} mb="sm">
          Deliveries
        </Text>
        {receivers.length === 0 ? (
          <EmptyState title="No receiver selected it">
            An event goes to the receivers that have selected its type by then. A later one gets it if earlier events are sent again from
            its page.
          </EmptyState>
        ) : (
          <Rows
            label="Deliveries of this event"
            columns={isOwner ? [...COLUMNS, ACTION] : COLUMNS}
            rows={deliveryRows(receivers)}
            keyOf={({ delivery: { id: deliveryId } }) => deliveryId}
          />
        )}
        {has_more_deliveries && (
          <Text size="sm" c="dimmed" mt="sm">
            The newest 200 deliveries show. A receiver’s page has all of its own.
          </Text>
        )}
      </section>
      {/* Below the rows, which it does not move. */}
      <FormError error={error} />
      <BodyAsSent body={body} />
    </Page>
  );
}

const COLUMNS: Column<DeliveryRow>[] = [
  {
    title: "Receiver",
    cell: ({ delivery, label, host }) => (
      <Lines>
        <div>
          <Link className="row-link" to="/developers/deliveries/$deliveryId" params={{ deliveryId: delivery.id }}>
            <Breakable of={label ?? "Deleted receiver"} />
          </Link>
          <Marks delivery={delivery} />
        </div>
        {host === null ? <Id id={delivery.receiver_id} /> : <Breakable of={host} />}
      </Lines>
    ),
  },
  { title: "State", cell: ({ delivery, pausedUntil }) => <DeliveryState delivery={delivery} pausedUntil={pausedUntil} /> },
  { title: "Last attempt", cell: ({ delivery }) => <LastAttempt delivery={delivery} /> },
  { title: "Created", cell: ({ delivery }) => <When at={delivery.created_at} isExact /> },
];

const ACTION: Column<DeliveryRow> = {
  title: "Actions",
  isAction: true,
  // While an attempt is in progress, its delivery is the one to wait for. One that is held goes out when its receiver is enabled.
  cell: ({ delivery, label, isNewest }) =>
    label !== null && isNewest && delivery.state !== "held" && <SendAgain delivery={delivery} to={label} />,
};
