import { quantile } from "../statistics.ts";

/** Returns the p99 of the events created in each second since `startedAtMs`; null for a second without any. */
export function p99BySecond(
  { createdAtMs, latenciesMs }: { readonly createdAtMs: readonly number[]; readonly latenciesMs: readonly number[] },
  startedAtMs: number,
): (number | null)[] {
  const seconds: number[][] = [];
  for (const [index, createdAt] of createdAtMs.entries()) {
    // created_at is rounded to milliseconds: it may lie before the start.
    const second = Math.max(0, Math.floor((createdAt - startedAtMs) / 1_000));
    (seconds[second] ??= []).push(latenciesMs[index] ?? Number.NaN);
  }
  return Array.from(seconds, (latencies: number[] | undefined) => (latencies === undefined ? null : percentile(latencies, 0.99)));
}

/** Returns null for an empty list. */
export function percentile(values: readonly number[], q: number): number | null {
  return values.length === 0
    ? null
    : quantile(
        values.toSorted((a, b) => a - b),
        q,
      );
}
