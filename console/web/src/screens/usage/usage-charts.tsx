import type { UsageOfRange } from "@brand-records/console-contract/range-reads";
import { USAGE_RANGES } from "@brand-records/console-contract/time-ranges";
import { Bars } from "../../parts/bars.tsx";
import { momentText } from "../../parts/when-text.ts";
import { everyBucket, type Counts } from "../../parts/usage-buckets.ts";
import { UsageNumbers } from "../../parts/usage-numbers.tsx";

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
  const all = everyBucket(buckets, range, span);
  return (
    <>
      <UsageNumbers total={total} limit={limit} per={range.per} buckets={all} />
      {range.bucketMinutes > 1 && (
        <Bars
          title={`Busiest clock minute of each ${range.per}`}
          series={BUSIEST}
          bars={all.map(({ start, peak, refused }) => ({
            label: momentText(start) + (refused > 0 ? ", limit reached" : ""),
            values: [peak],
          }))}
          {...(limit !== undefined && { limit })}
        />
      )}
    </>
  );
}
