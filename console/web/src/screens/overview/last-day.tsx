import type { Output } from "@brand-records/console-contract";
import { Group, Stack } from "@mantine/core";
import { Bars } from "../../parts/bars.tsx";
import { AnchorLink } from "../../parts/links.tsx";
import { momentText } from "../../parts/when-text.ts";
import { besideLimit, everyBucket, totalOf } from "../../parts/usage-buckets.ts";
import styles from "./last-day.module.css";
import { useBrand, useMe } from "../../api/queries.ts";
import { Hint } from "../../parts/states.tsx";

const HOURS = { bucketMinutes: 60, buckets: 24 } as const;

const SERIES = [
  { name: "Accepted", tone: "good" },
  { name: "Over the limit", tone: "bad" },
] as const;

/** How many requests the brand made in the last 24 hours, and how near they came to its limit. @param usage null if it could not be read */
export const LastDay = ({ usage }: { readonly usage: Output<"overview.get">["usage"] }) => (
  <Stack component="section" className="framed" gap="1rem" p="1rem 1.25rem" aria-label="Requests of the last 24 hours">
    {usage === null ? (
      <Hint>The requests of the last 24 hours could not be read. They are read again in a moment.</Hint>
    ) : (
      <Usage {...usage} />
    )}
  </Stack>
);

function Usage({ from, buckets }: NonNullable<Output<"overview.get">["usage"]>) {
  const total = totalOf(buckets);
  const { accepted, refused } = total;
  // Requests a minute; undefined for a brand that may make none.
  const limit = useMe().rate_limits[useBrand().tier];
  const bars = everyBucket(buckets, HOURS, { from: Date.parse(from) }).map((hour) => ({
    label: momentText(hour.start),
    values: [hour.accepted, hour.refused],
  }));
  return (
    <>
      <Group align="stretch" gap="0.75rem 2.5rem">
        <Number name="Requests accepted" value={accepted} />
        <Number name="Refused over the limit" value={refused} />
        <Number name="In the busiest clock minute" value={total.peak} beside={besideLimit(total, limit)} />
      </Group>
      {accepted + refused === 0 ? (
        <Hint>No requests in the last 24 hours.</Hint>
      ) : (
        <Bars title="Requests an hour" series={SERIES} bars={bars} />
      )}
      <AnchorLink to="/developers/usage" size="sm">
        Usage by key and by minute
      </AnchorLink>
    </>
  );
}

function Number({ name, value, beside }: { readonly name: string; readonly value: number; readonly beside?: string }) {
  return (
    <p className={styles["number"]}>
      <strong>{value.toLocaleString("en-PH")}</strong>
      {beside}
      <span>{name}</span>
    </p>
  );
}
