import type { Output } from "@brand-records/console-contract";
import { HOUR_MS } from "@brand-records/console-contract/time-ranges";

type Hour = Output<"deliveries.stats">["hours"][number];

/** Returns every hour of a range with its attempts; the service leaves out those without any. */
export function filledHours(
  hours: readonly Hour[],
  { from, to }: { readonly from: string; readonly to: string },
): { readonly at: number; readonly accepted: number; readonly failed: number }[] {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const found = new Map(hours.map(({ hour, stats }) => [Date.parse(hour), stats]));
  return Array.from({ length: Math.max(0, Math.round((end - start) / HOUR_MS)) }, (_, index) => {
    const at = start + index * HOUR_MS;
    const { accepted = 0, failed = 0 } = found.get(at) ?? {};
    return { at, accepted, failed };
  });
}

/** A duration in words: "85 ms", "1.2 s". */
export const durationText = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`);
