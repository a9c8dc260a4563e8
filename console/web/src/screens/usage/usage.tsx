import { readUsage, usageKey, type UsageOfRange } from "@brand-records/console-contract/range-reads";
import { USAGE_RANGE, USAGE_RANGES, type UsageRangeName } from "@brand-records/console-contract/time-ranges";
import { Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Key } from "@brand-records/console-contract";
import { call } from "../../api/call.ts";
import { POLL_COUNTS_MS, poll, useBrand, useMe, whileLoading } from "../../api/queries.ts";
import { Notice, EmptyState, NotRead } from "../../parts/states.tsx";
import { dateFormat } from "../../parts/formats.ts";
import { Page } from "../../parts/page.tsx";
import { Eligibility, useMayIntegrate } from "../../parts/eligibility.tsx";
import { ClientTable, KeyTable } from "./usage-tables.tsx";
import { daysText } from "./client-rows.ts";
import { nameIn, totalOf } from "../../parts/usage-buckets.ts";
import { UsageCharts } from "./usage-charts.tsx";
import styles from "../../parts/ranges.module.css";
import { FirstCall } from "../../parts/copyable.tsx";
import { ButtonLink } from "../../parts/links.tsx";

/** How many requests the brand makes, how near they come to its limit, and which keys make them. */
export default function Usage() {
  const { ofBrand, brand_name, tier } = useBrand();
  const limit = useMe().rate_limits[tier];
  const name = nameIn(USAGE_RANGES, getRouteApi("/shell/developers/usage").useSearch().range, USAGE_RANGE);
  const { data, error, refetch } = useQuery({
    // The range ends now: its time is no part of the key, so that it moves with each poll.
    queryKey: ["usage.get", usageKey(ofBrand.brand_id, name)] as const,
    queryFn: ({ signal }) => readUsage((input) => call("usage.get", input, { signal }), ofBrand.brand_id, name, Date.now()),
    placeholderData: whileLoading(ofBrand),
    refetchInterval: poll(POLL_COUNTS_MS),
  });
  return (
    <Page of="usage">
      <Eligibility />
      {limit !== undefined && (
        <Text size="sm">
          {brand_name} may make {limit} requests in any 60 seconds, with all of its keys together.
        </Text>
      )}
      <Group justify="space-between" gap="var(--space-8) var(--space-16)">
        <Ranges shown={name} />
        {data !== undefined && <AsOf at={data.at} hasFailed={error !== null} />}
      </Group>
      {data === undefined ? <NotRead error={error} refetch={refetch} /> : <UsageOf data={data} limit={limit} />}
    </Page>
  );
}

const Ranges = ({ shown }: { readonly shown: UsageRangeName }) => (
  <nav aria-label="Time" className={styles["ranges"]}>
    {Object.entries(USAGE_RANGES).map(([name, { length }]) => (
      <Link
        key={name}
        to="/developers/usage"
        search={{ range: name }}
        resetScroll={false}
        aria-current={name === shown ? "page" : undefined}
      >
        {name === "hour" ? "Last hour" : length}
      </Link>
    ))}
  </nav>
);

const CLOCK = dateFormat({ timeZone: "Asia/Manila", timeStyle: "medium", hourCycle: "h23" });

const AsOf = ({ at, hasFailed }: { readonly at: number; readonly hasFailed: boolean }) => (
  <Text size="sm" c="dimmed">
    As of <time dateTime={new Date(at).toISOString()}>{CLOCK.format(at)}</time>
    {hasFailed ? ". Newer counts could not be read." : ". A request counts here within 20 seconds."}
  </Text>
);

function UsageOf({ data, limit }: { readonly data: UsageOfRange; readonly limit: number | undefined }) {
  const total = totalOf(data.buckets);
  if (total.accepted + total.refused === 0) return <NoRequests range={data.name} keys={data.keys} />;
  return (
    <>
      {total.refused > 0 && (
        <Notice tone="waiting">
          {total.refused.toLocaleString("en-PH")} {total.refused === 1 ? "request was" : "requests were"} refused with 429, because the
          brand’s limit was used up. The response’s <code>Retry-After</code> says how many seconds to wait.
        </Notice>
      )}
      <UsageCharts data={data} total={total} limit={limit} />
      <KeyTable buckets={data.keyBuckets} keys={data.keys} total={total} />
      <ClientTable clients={data.clients} keys={data.keys} days={daysText(data.span, Date.now())} />
    </>
  );
}

/** Says that nothing was requested in a range and, to a brand that never called the API, how to make the first call. */
function NoRequests({ range, keys }: { readonly range: UsageRangeName; readonly keys: readonly Key[] }) {
  const mayIntegrate = useMayIntegrate();
  const isNew = keys.every(({ last_used_at }) => last_used_at === null);
  if (!isNew) {
    return (
      <EmptyState title={`No requests in the last ${USAGE_RANGES[range].length}`}>
        {range === "month" ? "Earlier requests are no longer counted." : "Choose a longer time to see earlier ones."}
      </EmptyState>
    );
  }
  const hasKey = keys.some(({ revoked_at }) => revoked_at === null);
  return (
    <>
      <EmptyState title="No requests yet" action={mayIntegrate && !hasKey && <ButtonLink to="/developers/keys">Create a key</ButtonLink>}>
        Each request with one of the brand’s keys counts here, of the API and of assistants.
      </EmptyState>
      {mayIntegrate && (
        <Stack gap="xs">
          <Text>Make the first call, with a key in the variable BRAND_RECORDS_KEY:</Text>
          <FirstCall />
        </Stack>
      )}
    </>
  );
}
