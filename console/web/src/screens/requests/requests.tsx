import type { Key, Output } from "@brand-records/console-contract";
import { getRouteApi } from "@tanstack/react-router";
import { POLL_COUNTS_MS, pollFirst, useRead } from "../../api/queries.ts";
import { CopyableId } from "../../parts/copyable.tsx";
import { choice } from "../../parts/filters/choice.ts";
import { FilterBar, isFiltered, type Filter } from "../../parts/filters/filter-bar.tsx";
import { durationText } from "../../parts/formats.ts";
import { KeyName } from "../../parts/key-name.tsx";
import { ButtonLink, GuideLink } from "../../parts/links.tsx";
import { Page } from "../../parts/page.tsx";
import { PagedRows } from "../../parts/paged-rows.tsx";
import { Lines, type Column } from "../../parts/rows.tsx";
import { EmptyState } from "../../parts/states.tsx";
import { When } from "../../parts/when.tsx";
import { Breakable } from "../../parts/breakable.tsx";
import { RouteLines } from "./route-lines.tsx";
import { routeText } from "./route-text.ts";

const OUTCOMES: Readonly<Record<string, string>> = { succeeded: "Succeeded", failed: "Refused or failed" };

/** The brand's last requests, newest first, with filters in the URL; that with an error's request id is the row that the URL names. */
export default function Requests() {
  const { page, ...filters } = getRouteApi("/shell/developers/requests").useSearch();
  const { key, route, status, id } = filters;
  const result = useRead(
    "requests.list",
    { key_id: key, route, status, request_id: id, page_token: page },
    { scope: {}, refetchInterval: pollFirst(page, POLL_COUNTS_MS) },
  );
  const { keys = [], routes = [], statuses = [], keep_hours = 24 } = result.data ?? {};
  const all = filtersFor(keys, routes, statuses);
  const failed = <ButtonLink to="/developers/requests/failed" variant="default" size="sm" children="What failed, by error" />;
  return (
    <Page of="requests" actions={failed}>
      <FilterBar filters={all} values={filters} />
      <PagedRows
        label="Requests"
        result={result}
        rowsOf={({ requests }) => withKeys(requests)}
        nextOf={({ next_page_token }) => next_page_token}
        page={page}
        isFiltered={keep_hours !== 0 && isFiltered(all, filters)}
        none={<None hours={keep_hours} />}
        columns={columns(new Map(keys.map((found) => [found.id, found])))}
        keyOf={({ key: of }) => of}
      />
    </Page>
  );
}

type Listed = Output<"requests.list">["requests"][number];
type Row = Listed & { readonly key: string };

/** A caller may give several requests of one millisecond the same id: such are numbered. */
function withKeys(requests: readonly Listed[]): Row[] {
  const counts = new Map<string, number>();
  return requests.map((request) => {
    const { at, request_id, key_id, route } = request;
    const like = [at, request_id, key_id, route].join(" ");
    const count = (counts.get(like) ?? 0) + 1;
    counts.set(like, count);
    return { ...request, key: `${like} ${count}` };
  });
}

const None = ({ hours }: { readonly hours: number }) => (
  <EmptyState title={hours === 0 ? "Requests are not listed here" : `No requests in the last ${hours} hours`}>
    {hours === 0
      ? "Who runs this service has switched the list off. What fails is counted all the same."
      : "A request with one of this brand’s keys shows here within 20 seconds."}
  </EmptyState>
);

const filtersFor = (keys: readonly Key[], routes: readonly string[], statuses: readonly number[]): readonly Filter[] => [
  choice("key", "Key", "All keys", keys, ({ id, name }) => [id, name]),
  choice("status", "Status", "All statuses", [...Object.keys(OUTCOMES), ...statuses.map(String)], (status) => [
    status,
    OUTCOMES[status] ?? status,
  ]),
  choice("route", "Request", "All requests", routes, (route) => [route, routeText(route).name]),
  {
    kind: "text",
    name: "id",
    label: "Request id",
    placeholder: "As in an error, or X-Request-Id",
    pattern: /^[A-Za-z0-9._:-]{1,128}$/,
    problem: "Enter a whole request id.",
  },
];

const columns = (keys: ReadonlyMap<string, Key>): Column<Row>[] => [
  {
    title: "Time",
    cell: ({ at, duration_ms }) => (
      <Lines>
        <When at={at} isExact />
        <span>{durationText(duration_ms)}</span>
      </Lines>
    ),
  },
  { title: "Request", cell: ({ route }) => <RouteLines route={route} /> },
  {
    title: "Status",
    cell: ({ http_status, code }) => (
      <Lines>
        <strong>{http_status}</strong>
        {code !== "" && (
          <GuideLink to={`errors#${code}`}>
            <Breakable of={code} />
          </GuideLink>
        )}
      </Lines>
    ),
  },
  { title: "Key", cell: ({ key_id }) => <KeyName id={key_id} found={keys.get(key_id)} /> },
  { title: "Client", cell: ({ client }) => <span className="breakable">{client}</span> },
  { title: "Request id", cell: ({ request_id }) => <CopyableId id={request_id} label={`request id ${request_id}`} /> },
];
