import type { Output } from "@brand-records/console-contract";

type Hour = Output<"deliveries.stats">["hours"][number];

export const HOUR_MS = 3_600_000;

/** The last `hours` whole hours, the present one included: what the bars cover. Stays the same until the next hour begins. */
export function lastHours(hours: number, now: number): { readonly from: string; readonly to: string } {
  const end = (Math.floor(now / HOUR_MS) + 1) * HOUR_MS;
  return { from: new Date(end - hours * HOUR_MS).toISOString(), to: new Date(end).toISOString() };
}

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
