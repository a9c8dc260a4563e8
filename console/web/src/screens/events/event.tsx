import type { Output } from "@brand-records/console-contract";
import { PAGES } from "@brand-records/console-contract/pages";
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { isGone } from "../../api/call.ts";
import { query } from "../../api/queries.ts";
import { AnchorLink, ButtonLink } from "../../parts/links.tsx";
import { BodyAsSent } from "../../parts/deliveries/body-as-sent.tsx";
import { CopyableId } from "../../parts/copyable.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Page } from "../../parts/page.tsx";
import { EmptyState, ErrorState, FormError, LoadingRows, Notice } from "../../parts/states.tsx";
import { When } from "../../parts/when.tsx";
import { useBrand } from "../../api/brand.ts";
import { pollMs } from "../../parts/deliveries/polling.ts";
import { EventDeliveries } from "./event-deliveries.tsx";
import { recordOf } from "./event-record.ts";

const EventsLink = () => (
  <AnchorLink to="/developers/events" size="sm">
    Events
  </AnchorLink>
);

/** One event with its deliveries: where the `dashboard_url` of a delivered body leads. */
export function Event() {
  const { eventId } = getRouteApi("/shell/developers/events/$eventId").useParams();
  const { ofBrand } = useBrand();
  const { data, error, refetch } = useQuery({
    ...query("events.get", { ...ofBrand, event_id: eventId }),
    refetchInterval: ({ state: { data, error } }) =>
      pollMs(
        data?.receivers.flatMap(({ deliveries }) => deliveries),
        error,
      ),
  });
  if (data !== undefined) return <EventPage data={data} error={error} />;
  if (isGone(error)) return <GonePage />;
  return (
    <Page title={PAGES.event.title} parent={<EventsLink />}>
      {error === null ? <LoadingRows /> : <ErrorState error={error} retry={() => void refetch()} />}
    </Page>
  );
}

const GonePage = () => (
  <Page title="Event not found" parent={<EventsLink />}>
    <EmptyState title="Nothing is here" action={<ButtonLink to="/developers/events">Show the events</ButtonLink>}>
      An event is kept for 30 days. This one is older, it does not exist, or it belongs to a brand that you are not a member of.
    </EmptyState>
  </Page>
);

interface EventPageProps {
  readonly data: Output<"events.get">;
  /** Why it was not read again. */
  readonly error: Error | null;
}

function EventPage({ data: { event, body, receivers, has_more_deliveries }, error }: EventPageProps) {
  const { id, type, test, created_at, data_json } = event;
  const record = recordOf(data_json);
  return (
    <Page title={test ? `${type} (test)` : type} parent={<EventsLink />}>
      {test && <Notice>A test with sample data. Nothing has happened to any record.</Notice>}
      <Facts
        facts={[
          ["Created", <When at={created_at} isExact />],
          ["Event", <CopyableId id={id} label="event’s id" />],
          ...(record === undefined ? [] : ([["Record", <CopyableId id={record.id} label="record’s id" />]] as const)),
          ...(record?.change === undefined ? [] : ([["Status", record.change]] as const)),
          ...(record?.campaignId === undefined
            ? []
            : ([["Campaign", <CopyableId id={record.campaignId} label="campaign’s id" />]] as const)),
          ...(record === undefined || test ? [] : ([["Same record", <SameRecord recordId={record.id} />]] as const)),
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
          <EventDeliveries receivers={receivers} />
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

const SameRecord = ({ recordId }: { readonly recordId: string }) => (
  <AnchorLink to="/developers/events" search={{ record_id: recordId }} size="sm">
    All events of this record
  </AnchorLink>
);
