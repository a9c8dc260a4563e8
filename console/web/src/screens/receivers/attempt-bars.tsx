import type { Output } from "@brand-records/console-contract";
import { Group, NativeSelect, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { query } from "../../api/queries.ts";
import { Bars } from "../../parts/bars.tsx";
import { ErrorState, LoadingRows } from "../../parts/states.tsx";
import { momentText, When } from "../../parts/when.tsx";
import { useBrand } from "../../api/brand.ts";
import { durationText, filledHours, HOUR_MS, lastHours } from "./hours.ts";

const POLL_MS = 30_000;
const PERIODS = [
  { value: "24", label: "Last 24 hours" },
  { value: "168", label: "Last 7 days" },
];
const SERIES = [
  { name: "Accepted", tone: "good" },
  { name: "Failed", tone: "bad" },
] as const;

/** A receiver's attempts by hour, and how long they took. */
export function AttemptBars({ receiverId }: { readonly receiverId: string }) {
  const { ofBrand } = useBrand();
  const [hours, setHours] = useState("24");
  const range = lastHours(Number(hours), Date.now());
  const { data, error, refetch } = useQuery({
    ...query("deliveries.stats", { ...ofBrand, receiver_id: receiverId, ...range }),
    refetchInterval: POLL_MS,
  });
  return (
    <section aria-labelledby="attempts-by-hour">
      <Group justify="space-between" mb="sm">
        <Text id="attempts-by-hour" component="h2" fw={650}>
          Attempts
        </Text>
        <NativeSelect
          aria-label="Period"
          size="xs"
          value={hours}
          onChange={({ currentTarget }) => setHours(currentTarget.value)}
          data={PERIODS}
        />
      </Group>
      {data === undefined ? (
        error === null ? (
          <LoadingRows rows={2} />
        ) : (
          <ErrorState error={error} retry={() => void refetch()} />
        )
      ) : (
        <Stats stats={data} range={range} />
      )}
    </section>
  );
}

interface StatsProps {
  readonly stats: Output<"deliveries.stats">;
  readonly range: { readonly from: string; readonly to: string };
}

function Stats({ stats: { hours, total, counted_since }, range }: StatsProps) {
  const bars = filledHours(hours, range).map(({ at, accepted, failed }) => ({
    label: `${momentText(at)} to ${momentText(at + HOUR_MS).slice(-5)}`,
    values: [accepted, failed],
  }));
  return (
    <>
      <Bars title="By hour" series={SERIES} bars={bars} />
      <Text size="sm" mt="xs">
        {total.accepted + total.failed === 0 ? (
          "No attempts in this time."
        ) : (
          <>
            {total.accepted.toLocaleString("en-PH")} accepted, {total.failed.toLocaleString("en-PH")} failed.
            {total.p50_ms !== null && total.p95_ms !== null && (
              <>
                {" "}
                Half took at most {durationText(total.p50_ms)} (p50), 95% at most {durationText(total.p95_ms)} (p95).
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
      </Text>
    </>
  );
}
