import type { Output } from "@brand-records/console-contract";
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { query, whileLoading } from "../../api/queries.ts";
import { Bars } from "../../parts/bars.tsx";
import { AnchorLink } from "../../parts/links.tsx";
import { ErrorState, LoadingRows } from "../../parts/states.tsx";
import { useBrand, useMe } from "../../shell/brand.tsx";
import { hoursOfDay, startOfDay } from "./hours.ts";
import styles from "./last-day.module.css";

const HOUR_MS = 3_600_000;
const POLL_MS = 60_000;

const SERIES = [
  { name: "Accepted", tone: "good" },
  { name: "Over the limit", tone: "bad" },
] as const;

/** How many requests the brand made in the last 24 hours, and how near they came to its limit. */
export function LastDay() {
  const { ofBrand } = useBrand();
  // Whole hours, so that the query stays the same until the next.
  const from = startOfDay(Date.now());
  const range = { from: new Date(from).toISOString(), to: new Date(from + 24 * HOUR_MS).toISOString() };
  const { data, error, refetch } = useQuery({
    ...query("usage.get", { ...ofBrand, ...range, bucket_minutes: 60, by_key: false }),
    refetchInterval: POLL_MS,
    placeholderData: whileLoading(ofBrand),
  });
  return (
    <section className={styles["section"]} aria-label="Requests of the last 24 hours">
      {data !== undefined ? (
        <Usage buckets={data.buckets} from={from} />
      ) : error === null ? (
        <LoadingRows rows={2} />
      ) : (
        <ErrorState error={error} retry={() => void refetch()} />
      )}
    </section>
  );
}

function Usage({ buckets, from }: { readonly buckets: Output<"usage.get">["buckets"]; readonly from: number }) {
  const accepted = buckets.reduce((sum, bucket) => sum + bucket.accepted, 0);
  const refused = buckets.reduce((sum, bucket) => sum + bucket.refused, 0);
  const busiest = Math.max(0, ...buckets.map(({ peak_accepted }) => peak_accepted));
  return (
    <>
      <div className={styles["numbers"]}>
        <Number name="Requests accepted" value={accepted} />
        <Number name="Refused over the limit" value={refused} />
        <Number name="In the busiest minute" value={busiest} of={useLimit()} />
      </div>
      {accepted + refused === 0 ? (
        <Text size="sm" c="dimmed">
          No requests in the last 24 hours.
        </Text>
      ) : (
        <Bars title="Requests an hour" series={SERIES} bars={hoursOfDay(buckets, from)} />
      )}
      <AnchorLink to="/developers/usage" size="sm">
        Usage by key and by minute
      </AnchorLink>
    </>
  );
}

/** Requests a minute; undefined for a brand that may make none. */
function useLimit(): number | undefined {
  return useMe().rate_limits[useBrand().tier];
}

function Number({ name, value, of }: { readonly name: string; readonly value: number; readonly of?: number | undefined }) {
  return (
    <p className={styles["number"]}>
      <strong>{value.toLocaleString("en-PH")}</strong>
      {of !== undefined && ` of ${of.toLocaleString("en-PH")}`}
      <span>{name}</span>
    </p>
  );
}
