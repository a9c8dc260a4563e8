import { Bars } from "./bars.tsx";
import { Facts } from "./facts.tsx";
import { besideLimit, type Counts } from "./usage-buckets.ts";
import { momentText } from "./when-text.ts";

interface UsageNumbersProps {
  readonly total: Counts;
  /** Requests in any minute; undefined for a brand that may make none. */
  readonly limit: number | undefined;
  /** The time span of a bar: "hour". Only bars of minutes are compared with the limit. */
  readonly per: string;
  readonly buckets: readonly (Counts & { readonly start: number })[];
}

const SERIES = [
  { name: "Accepted", tone: "good" },
  { name: "Refused over the limit", tone: "bad" },
] as const;

/** How many requests a brand made, over time too, and how near they came to its limit. */
export const UsageNumbers = ({ total, limit, per, buckets }: UsageNumbersProps) => (
  <>
    <Facts
      facts={[
        ["Accepted", total.accepted.toLocaleString("en-PH")],
        ["Refused over the limit", total.refused.toLocaleString("en-PH")],
        ["Busiest clock minute", `${total.peak.toLocaleString("en-PH")}${besideLimit(total, limit)}`],
      ]}
    />
    <Bars
      title={`Requests per ${per}`}
      series={SERIES}
      bars={buckets.map(({ start, accepted, refused }) => ({ label: momentText(start), values: [accepted, refused] }))}
      {...(per === "minute" && limit !== undefined && { limit })}
    />
  </>
);
