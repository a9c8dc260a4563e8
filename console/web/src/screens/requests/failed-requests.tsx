import { PAGES } from "@brand-records/console-contract/pages";
import { readFailedRequests, type FailedInRange } from "@brand-records/console-contract/range-reads";
import { TIME_RANGES } from "@brand-records/console-contract/time-ranges";
import { Text } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useBrand } from "../../api/brand.ts";
import { call } from "../../api/call.ts";
import { POLL_AFTER_ERROR_MS, whileLoading } from "../../api/queries.ts";
import { Bars } from "../../parts/bars.tsx";
import { FilterBar, isFiltered } from "../../parts/filters/filter-bar.tsx";
import { Page } from "../../parts/page.tsx";
import { EmptyState, ErrorState, FormError, LoadingRows, Notice } from "../../parts/states.tsx";
import { startsOf } from "../../parts/usage-buckets.ts";
import { momentText } from "../../parts/when-text.ts";
import { When } from "../../parts/when.tsx";
import { FailedGroups } from "./failed-groups.tsx";
import { filtersFor } from "./filters.ts";
import { selectedBy, type FailedSearch } from "./failed-search.ts";
import { rangeNamed } from "./ranges.ts";

/** Gateways send their counts every 10 seconds. */
const POLL_MS = 10_000;

/** Reads a range that ends now: its time is no part of the query's key, so that it moves with each poll. */
const failedQuery = (brandId: string, search: FailedSearch) =>
  queryOptions({
    queryKey: ["requests.failed", { brand_id: brandId, ...search }] as const,
    queryFn: ({ signal }) => {
      const selected = { brand_id: brandId, ...selectedBy(search) };
      return readFailedRequests((input) => call("requests.failed", input, { signal }), selected, rangeNamed(search.range), Date.now());
    },
  });

/** What was refused or failed, with which key, where and why: to see what an integration does wrong, or what we did. */
export function FailedRequests() {
  const { ofBrand } = useBrand();
  const search = getRouteApi("/shell/developers/requests").useSearch();
  const { data, error, refetch } = useQuery({
    ...failedQuery(ofBrand.brand_id, search),
    placeholderData: whileLoading(ofBrand),
    refetchInterval: ({ state: { error } }) => (error === null ? POLL_MS : POLL_AFTER_ERROR_MS),
  });
  const filters = filtersFor(data?.groups ?? [], data?.keys ?? []);
  return (
    <Page title={PAGES.requests.title} description={PAGES.requests.description}>
      <FilterBar filters={filters} values={search} />
      {data === undefined ? (
        error === null ? (
          <LoadingRows />
        ) : (
          <ErrorState error={error} retry={() => void refetch()} />
        )
      ) : (
        <>
          <FormError error={error} />
          <Counts data={data} isFiltered={isFiltered(filters, { ...search, range: undefined })} />
          {data.groups.length > 0 && <FailedGroups groups={data.groups} keys={data.keys} search={search} />}
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
        <Notice tone="warning">
          So much has failed that counts from before <When at={counted_since} /> were removed: a brand keeps the newest 10,000.
        </Notice>
      )}
      {groups.length === 0 ? (
        <NoFailures length={range.length} isFiltered={isFiltered} />
      ) : (
        <Bars title={`Failed requests per ${range.per}`} series={[{ name: "Failed", tone: "bad" }]} bars={bars} />
      )}
    </>
  );
}

function NoFailures({ length, isFiltered }: Pick<CountsProps, "isFiltered"> & { readonly length: string }) {
  if (isFiltered) return <EmptyState title="No failed requests match">Change or clear the filters to see more.</EmptyState>;
  return (
    <EmptyState title={`No failed requests in the last ${length}`}>
      Every request with one of this brand’s keys succeeded. One that fails shows here within 20 seconds.
    </EmptyState>
  );
}
