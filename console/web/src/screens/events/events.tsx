import type { Output } from "@brand-records/console-contract";
import { getRouteApi, Link } from "@tanstack/react-router";
import { pollFirst, useRead } from "../../api/queries.ts";
import { recordFilter, typeFilter } from "../../parts/event-types.ts";
import { instantsOf } from "../../parts/filters/days.ts";
import { FilterBar, isFiltered, type Filter } from "../../parts/filters/filter-bar.tsx";
import { Page } from "../../parts/page.tsx";
import { PagedRows } from "../../parts/paged-rows.tsx";
import { Id } from "../../parts/id.tsx";
import type { Column } from "../../parts/rows.tsx";
import { EmptyState } from "../../parts/states.tsx";
import { When } from "../../parts/when.tsx";
import { deliveredText, recordOf } from "./event-rows.ts";

const FILTERS: readonly Filter[] = [typeFilter("Type"), { kind: "days" }, recordFilter("record_id")];

/** What has happened to the brand's records, newest first, with filters in the URL. The first page keeps itself current. */
export default function Events() {
  const { page, ...filters } = getRouteApi("/shell/developers/events").useSearch();
  const { type, record_id, from, to } = filters;
  const result = useRead(
    "events.list",
    { type, record_id, ...instantsOf({ from, to }), page_token: page },
    { scope: {}, refetchInterval: pollFirst(page) },
  );
  return (
    <Page of="events">
      <FilterBar filters={FILTERS} values={filters} />
      <PagedRows
        label="Events"
        result={result}
        rowsOf={({ events }) => events}
        nextOf={({ next_page_token }) => next_page_token}
        page={page}
        isFiltered={isFiltered(FILTERS, filters)}
        none={
          <EmptyState title="No events in the last 30 days">
            An event is made when a submission is approved or rejected, a payout is paid, or a campaign is settled. It shows here within
            seconds.
          </EmptyState>
        }
        columns={COLUMNS}
        keyOf={({ id }) => id}
      />
    </Page>
  );
}

type Event = Output<"events.list">["events"][number];

const COLUMNS: Column<Event>[] = [
  {
    title: "Event",
    cell: ({ id, type }) => (
      <Link className="row-link" to="/developers/events/$eventId" params={{ eventId: id }}>
        {type}
      </Link>
    ),
  },
  { title: "Record", cell: ({ data_json }) => <Id id={recordOf(data_json)?.id ?? "None"} /> },
  { title: "Status", cell: ({ data_json }) => recordOf(data_json)?.change ?? "" },
  { title: "Delivered", cell: deliveredText },
  { title: "Created", cell: ({ created_at }) => <When at={created_at} isExact /> },
];
