import type { UsageOfRange } from "@brand-records/console-contract/range-reads";
import { USAGE_RANGES } from "@brand-records/console-contract/time-ranges";
import { Bars } from "../../parts/bars.tsx";
import { Facts } from "../../parts/facts.tsx";
import { momentText } from "../../parts/when-text.ts";
import { besideLimit, everyBucket, type Counts } from "../../parts/usage-buckets.ts";

const REQUESTS = [
  { name: "Accepted", tone: "good" },
  { name: "Refused", tone: "bad" },
] as const;
const BUSIEST = [{ name: "Accepted in the busiest clock minute", tone: "quiet" }] as const;

interface UsageChartsProps {
  readonly data: UsageOfRange;
  readonly total: Counts;
  /** Requests in any minute; undefined for a brand that may make none. */
  readonly limit: number | undefined;
}

/** Requests over time. The limit is one of a minute, so only bars of minutes are compared with it. */
export function UsageCharts({ data: { name, span, buckets }, total, limit }: UsageChartsProps) {
  const range = USAGE_RANGES[name];
  const all = everyBucket(buckets, range, span).map((bucket) => ({ ...bucket, label: momentText(bucket.start) }));
  const line = limit === undefined ? {} : { limit };
  const isByMinute = range.bucketMinutes === 1;
  return (
    <>
      <Facts
        facts={[
          ["Accepted", total.accepted.toLocaleString("en-PH")],
          ["Refused over the limit", total.refused.toLocaleString("en-PH")],
          ["Busiest clock minute", `${total.peak.toLocaleString("en-PH")}${besideLimit(total, limit)}`],
        ]}
      />
      <Bars
        title={`Requests per ${range.per}`}
        series={REQUESTS}
        bars={all.map(({ label, accepted, refused }) => ({ label, values: [accepted, refused] }))}
        {...(isByMinute && line)}
      />
      {!isByMinute && (
        <Bars
          title={`Busiest clock minute of each ${range.per}`}
          series={BUSIEST}
          bars={all.map(({ label, peak, refused }) => ({ label: refused > 0 ? `${label}, limit reached` : label, values: [peak] }))}
          {...line}
        />
      )}
    </>
  );
}
