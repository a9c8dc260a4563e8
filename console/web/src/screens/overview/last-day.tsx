import type { Output } from "@brand-records/console-contract";
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { POLL_MS, query, whileLoading } from "../../api/queries.ts";
import { Bars } from "../../parts/bars.tsx";
import { AnchorLink } from "../../parts/links.tsx";
import { ErrorState, LoadingRows } from "../../parts/states.tsx";
import { momentText } from "../../parts/when.tsx";
import { useBrand, useMe } from "../../api/brand.ts";
import { busiestWindow, everyBucket, spanOf, totalOf, type Span } from "../../parts/usage-buckets.ts";
import styles from "./last-day.module.css";

const HOURS = { bucketMinutes: 60, buckets: 24 } as const;

const SERIES = [
  { name: "Accepted", tone: "good" },
  { name: "Over the limit", tone: "bad" },
] as const;

/** How many requests the brand made in the last 24 hours, and how near they came to its limit. */
export function LastDay() {
  const { ofBrand } = useBrand();
  // Whole hours, so that the query stays the same until the next.
  const span = spanOf(HOURS, Date.now());
  const range = { from: new Date(span.from).toISOString(), to: new Date(span.to).toISOString() };
  const { data, error, refetch } = useQuery({
    ...query("usage.get", { ...ofBrand, ...range, bucket_minutes: HOURS.bucketMinutes, by_key: false }),
    refetchInterval: POLL_MS,
    placeholderData: whileLoading(ofBrand),
  });
  return (
    <section className={styles["section"]} aria-label="Requests of the last 24 hours">
      {data !== undefined ? (
        <Usage buckets={data.buckets} span={span} />
      ) : error === null ? (
        <LoadingRows rows={2} />
      ) : (
        <ErrorState error={error} retry={() => void refetch()} />
      )}
    </section>
  );
}

function Usage({ buckets, span }: { readonly buckets: Output<"usage.get">["buckets"]; readonly span: Span }) {
  const total = totalOf(buckets);
  const { accepted, refused } = total;
  const limit = useLimit();
  const bars = everyBucket(buckets, HOURS, span).map((hour) => ({ label: momentText(hour.start), values: [hour.accepted, hour.refused] }));
  return (
    <>
      <div className={styles["numbers"]}>
        <Number name="Requests accepted" value={accepted} />
        <Number name="Refused over the limit" value={refused} />
        <Number name="In the busiest 60 seconds" value={busiestWindow(total, limit)} of={limit} />
      </div>
      {accepted + refused === 0 ? (
        <Text size="sm" c="dimmed">
          No requests in the last 24 hours.
        </Text>
      ) : (
        <Bars title="Requests an hour" series={SERIES} bars={bars} />
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
