import { spanOf, USAGE_RANGES, type UsageRangeName } from "@brand-records/console-contract/time-ranges";
import { everyBucket } from "../../parts/usage-buckets.ts";
import { rangeNamed } from "./ranges.ts";

const NOW = Date.parse("2026-11-22T15:59:30Z");

it.each(Object.keys(USAGE_RANGES) as UsageRangeName[])("%s has at most 100 bars, and the last one is the one that now is in", (name) => {
  const range = USAGE_RANGES[name];
  const { from, to } = spanOf(range, NOW);
  const last = everyBucket([], range, { from, to }).at(-1)?.start ?? 0;
  expect(range.buckets).toBeLessThanOrEqual(100);
  expect(last).toBeLessThanOrEqual(NOW);
  expect(to).toBeGreaterThan(NOW);
  expect(to - last).toBe(range.bucketMinutes * 60_000);
  // Midnight in Manila is at the edge of a bar.
  expect(Math.abs(Date.parse("2026-11-22T00:00:00+08:00") - from) % (range.bucketMinutes * 60_000)).toBe(0);
});

it.each([undefined, "", "year", "toString"])("a URL that names %p shows the day", (name) => {
  expect(rangeNamed(name)).toBe("day");
});
