import type { Output } from "@brand-records/console-contract";
import { ATTEMPT_HOURS, HOUR_MS, lastHours } from "@brand-records/console-contract/time-ranges";
import { Group, NativeSelect, Text } from "@mantine/core";
import { useState } from "react";
import { useBrand, useRead, whileLoading } from "../../api/queries.ts";
import { Bars } from "../../parts/bars.tsx";
import { durationText } from "../../parts/formats.ts";
import { Loading, NotRead } from "../../parts/states.tsx";
import { startsOf } from "../../parts/usage-buckets.ts";
import { momentText } from "../../parts/when-text.ts";
import { When } from "../../parts/when.tsx";

const POLL_MS = 30_000;
const PERIODS = [
  { value: `${ATTEMPT_HOURS}`, label: `Last ${ATTEMPT_HOURS} hours` },
  { value: "168", label: "Last 7 days" },
];
const SERIES = [
  { name: "Accepted", tone: "good" },
  { name: "Failed", tone: "bad" },
] as const;

/** A receiver's attempts by hour, and how long they took. */
export function AttemptBars({ receiverId }: { readonly receiverId: string }) {
  const { ofBrand } = useBrand();
  const [hours, setHours] = useState(`${ATTEMPT_HOURS}`);
  const range = lastHours(Number(hours), Date.now());
  const { data, error, refetch } = useRead(
    "deliveries.stats",
    { receiver_id: receiverId, ...range },
    {
      refetchInterval: POLL_MS,
      // With each hour another range begins.
      placeholderData: (before, queryBefore) => {
        const isAsLong = queryBefore !== undefined && hoursOf(queryBefore.queryKey[1]) === Number(hours);
        return isAsLong ? whileLoading({ ...ofBrand, receiver_id: receiverId })(before, queryBefore) : undefined;
      },
    },
  );
  return (
    <section aria-labelledby="attempts-by-hour">
      <Group justify="space-between" align="start" gap="xs" mb={4}>
        <Text size="sm" flex="1 1 20rem">
          <Text span id="attempts-by-hour" component="h2" fw={650} fz="md" display="inline" mr="sm">
            Attempts
          </Text>
          {data !== undefined && <Totals stats={data} range={range} />}
          {data !== undefined && error !== null && " Newer attempts could not be read."}
        </Text>
        <NativeSelect
          aria-label="Period"
          size="xs"
          flex="none"
          value={hours}
          onChange={({ currentTarget }) => setHours(currentTarget.value)}
          data={PERIODS}
        />
      </Group>
      {data !== undefined ? (
        <Bars title="By hour" series={SERIES} bars={barsOf(data, range)} isLow />
      ) : (
        <NotRead error={error} refetch={refetch} loading={<Loading height={148} />} />
      )}
    </section>
  );
}

const hoursOf = ({ from, to }: StatsProps["range"]): number => (Date.parse(to) - Date.parse(from)) / HOUR_MS;

interface StatsProps {
  readonly stats: Output<"deliveries.stats">;
  readonly range: { readonly from: string; readonly to: string };
}

/** The service leaves out hours without attempts. */
function barsOf({ hours }: StatsProps["stats"], range: StatsProps["range"]) {
  const found = new Map(hours.map(({ hour, stats }) => [Date.parse(hour), stats]));
  return startsOf({ bucketMinutes: 60, buckets: hoursOf(range) }, { from: Date.parse(range.from) }).map((at) => ({
    label: `${momentText(at)} to ${momentText(at + HOUR_MS).slice(-5)}`,
    values: [found.get(at)?.accepted ?? 0, found.get(at)?.failed ?? 0],
  }));
}

function Totals({ stats: { total, counted_since }, range }: StatsProps) {
  const { accepted, failed, p50_ms, p95_ms } = total;
  return (
    <>
      {accepted + failed === 0 ? (
        "None in this time, tests apart."
      ) : (
        <>
          {accepted.toLocaleString("en-PH")} accepted, {failed.toLocaleString("en-PH")} failed, tests apart.
          {p50_ms !== null && p95_ms !== null && (
            <>
              {" "}
              Half took at most {durationText(p50_ms)} (p50), 95% at most {durationText(p95_ms)} (p95).
            </>
          )}
        </>
      )}
      {counted_since > range.from && (
        <>
          {" "}
          Counted since <When at={counted_since} />.
        </>
      )}
    </>
  );
}
