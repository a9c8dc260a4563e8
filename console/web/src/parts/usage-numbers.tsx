import { Bars } from "./bars.tsx";
import { Facts } from "./facts.tsx";
import { besideLimit, type Counts } from "./usage-buckets.ts";
import { momentText } from "./when-text.ts";

interface UsageNumbersProps {
  readonly total: Counts;
  /** Requests in any minute; undefined for a brand that may make none. */
  readonly limit: number | undefined;
}

/** How many requests a brand made, and how near they came to its limit. */
export const UsageNumbers = ({ total, limit }: UsageNumbersProps) => (
  <Facts
    facts={[
      ["Accepted", total.accepted.toLocaleString("en-PH")],
      ["Refused over the limit", total.refused.toLocaleString("en-PH")],
      ["Busiest clock minute", `${total.peak.toLocaleString("en-PH")}${besideLimit(total, limit)}`],
    ]}
  />
);

const SERIES = [
  { name: "Accepted", tone: "good" },
  { name: "Refused over the limit", tone: "bad" },
] as const;

interface RequestBarsProps {
  /** The time span of a bar: "hour". */
  readonly per: string;
  readonly buckets: readonly (Counts & { readonly start: number })[];
  /** The limit of a minute, for bars of minutes. */
  readonly limit?: number;
}

/** The same over time. */
export const RequestBars = ({ per, buckets, ...limit }: RequestBarsProps) => (
  <Bars
    title={`Requests per ${per}`}
    series={SERIES}
    bars={buckets.map(({ start, accepted, refused }) => ({ label: momentText(start), values: [accepted, refused] }))}
    {...limit}
  />
);
