import { readFailedRequests, type FailedInRange } from "@brand-records/console-contract/range-reads";
import { FAILED_RANGE, TIME_RANGES } from "@brand-records/console-contract/time-ranges";
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Key } from "@brand-records/console-contract";
import { call } from "../../api/call.ts";
import { POLL_COUNTS_MS, poll, useBrand, whileLoading } from "../../api/queries.ts";
import { Bars } from "../../parts/bars.tsx";
import { FilterBar, isFiltered } from "../../parts/filters/filter-bar.tsx";
import { GuideLink } from "../../parts/links.tsx";
import { Page } from "../../parts/page.tsx";
import { EmptyState, FormError, Notice, NotRead } from "../../parts/states.tsx";
import { nameIn, startsOf } from "../../parts/usage-buckets.ts";
import { momentText } from "../../parts/when-text.ts";
import { When } from "../../parts/when.tsx";
import { filtersFor, selectedBy, type FailedSearch, fieldText, searchFor, type FailedGroup } from "./failed-search.ts";
import { RouteLines } from "./route-lines.tsx";
import { Breakable } from "../../parts/breakable.tsx";
import { CopyableId } from "../../parts/copyable.tsx";
import { KeyName } from "../../parts/key-name.tsx";
import { Lines, Rows, type Column } from "../../parts/rows.tsx";

/** What was refused or failed, with which key, where and why: to see what an integration does wrong, or what we did. */
export default function FailedRequests() {
  const { ofBrand } = useBrand();
  const search = getRouteApi("/shell/developers/requests/failed").useSearch();
  const { data, error, refetch } = useQuery({
    // The range ends now: its time is no part of the key, so that it moves with each poll.
    queryKey: ["requests.failed", { ...ofBrand, ...search }] as const,
    queryFn: ({ signal }) => {
      const range = nameIn(TIME_RANGES, search.range, FAILED_RANGE);
      return readFailedRequests(
        (input) => call("requests.failed", input, { signal }),
        { ...ofBrand, ...selectedBy(search) },
        range,
        Date.now(),
      );
    },
    placeholderData: whileLoading(ofBrand),
    refetchInterval: poll(POLL_COUNTS_MS),
  });
  const filters = filtersFor(data?.groups ?? [], data?.keys ?? []);
  return (
    <Page of="failedRequests" parent="requests">
      <FilterBar filters={filters} values={search} />
      {data === undefined ? (
        <NotRead error={error} refetch={refetch} />
      ) : (
        <>
          <FormError error={error} />
          <Counts data={data} isFiltered={isFiltered(filters, { ...search, range: undefined })} />
          {data.groups.length > 0 && (
            <Rows
              label="Failed requests"
              columns={columns(search, new Map(data.keys.map((key) => [key.id, key])))}
              rows={data.groups}
              keyOf={({ key_id, route, code, field }) => [key_id, route, code, field].join(" ")}
            />
          )}
          <Text size="sm">
            <GuideLink to={`errors#${search.code ?? ""}`}>What {search.code ?? "each error"} means, and what to do</GuideLink>
          </Text>
          {data.has_more_groups && <Text size="sm">These are the 200 with the most requests. Filters show the others.</Text>}
        </>
      )}
    </Page>
  );
}

interface CountsProps {
  readonly data: FailedInRange;
  readonly isFiltered: boolean;
}

function Counts({ data: { name, groups, buckets, span, counted_since }, isFiltered }: CountsProps) {
  const range = TIME_RANGES[name];
  const counts = new Map(buckets.map(({ start, requests }) => [Date.parse(start), requests]));
  const bars = startsOf(range, span).map((start) => ({ label: momentText(start), values: [counts.get(start) ?? 0] }));
  return (
    <>
      {counted_since !== null && (
        <Notice tone="waiting">
          So much has failed that counts from before <When at={counted_since} /> were removed: a brand keeps the newest 10,000.
        </Notice>
      )}
      {groups.length === 0 ? (
        <EmptyState title={isFiltered ? "No failed requests match" : `No failed requests in the last ${range.length}`}>
          {isFiltered
            ? "Change or clear the filters to see more."
            : "Every request with one of this brand’s keys succeeded. One that fails shows here within 20 seconds."}
        </EmptyState>
      ) : (
        <Bars title={`Failed requests per ${range.per}`} series={[{ name: "Failed", tone: "bad" }]} bars={bars} />
      )}
    </>
  );
}

/** Requests that failed in the same way, the most frequent first. Each leads to its own counts. */
const columns = (search: FailedSearch, keys: ReadonlyMap<string, Key>): Column<FailedGroup>[] => [
  {
    title: "Error",
    cell: (group) => (
      <Lines>
        <Link className="row-link" to="/developers/requests/failed" search={searchFor(search, group)}>
          <Breakable of={group.code} />
        </Link>
        <span>{fieldText(group.field)}</span>
      </Lines>
    ),
  },
  { title: "Request", cell: ({ route }) => <RouteLines route={route} /> },
  { title: "Key", cell: ({ key_id }) => <KeyName id={key_id} found={keys.get(key_id)} /> },
  { title: "Requests", cell: ({ requests }) => requests.toLocaleString("en-PH") },
  { title: "Last", cell: ({ last_at }) => <When at={last_at} /> },
  { title: "Request ids", isAction: true, cell: ({ request_ids }) => <RequestIds ids={request_ids} /> },
];

/** The last one, and the others folded away. */
function RequestIds({ ids }: { readonly ids: readonly string[] }) {
  if (ids.length === 0) return null;
  return (
    <details>
      <summary>{ids.length === 1 ? "Request id" : `Last ${ids.length} request ids`}</summary>
      {ids.map((id) => (
        <div key={id}>
          <CopyableId id={id} label={`request id ${id}`} />
        </div>
      ))}
    </details>
  );
}
