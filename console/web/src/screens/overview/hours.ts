import type { Output } from "@brand-records/console-contract";
import type { Bar } from "../../parts/bars.tsx";

const HOUR_MS = 3_600_000;

const HOUR = new Intl.DateTimeFormat("en-PH", {
  timeZone: "Asia/Manila",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});

/** The beginning of the 24 hours whose last one is now. */
export const startOfDay = (now: number): number => (Math.floor(now / HOUR_MS) - 23) * HOUR_MS;

/** Every hour from `from`, those without requests included. */
export function hoursOfDay(buckets: Output<"usage.get">["buckets"], from: number): Bar[] {
  const byStart = new Map(buckets.map((bucket) => [Date.parse(bucket.start), bucket]));
  return Array.from({ length: 24 }, (_, hour) => {
    const start = from + hour * HOUR_MS;
    const { accepted = 0, refused = 0 } = byStart.get(start) ?? {};
    return { label: HOUR.format(start), values: [accepted, refused] };
  });
}
