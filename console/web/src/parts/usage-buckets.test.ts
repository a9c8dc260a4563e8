import { spanOf, USAGE_RANGE, USAGE_RANGES, type UsageRangeName } from "@brand-records/console-contract/time-ranges";
import { besideLimit, countsByKey, everyBucket, nameIn, totalOf } from "./usage-buckets.ts";

const HOUR = { bucketMinutes: 1, buckets: 60 };
const NOW = Date.parse("2026-11-22T15:59:30Z");
const bucket = (start: string, accepted: number, refused: number, peak_accepted: number, key_id: string | null = null) => ({
  start,
  key_id,
  accepted,
  refused,
  peak_accepted,
});

it("a minute without requests is a bar of its own, so that the bars after it stay at their time", () => {
  const span = spanOf(HOUR, NOW);
  const buckets = [bucket("2026-11-22T15:00:00.000Z", 3, 1, 3), bucket("2026-11-22T15:59:00.000Z", 5, 0, 5)];
  const bars = everyBucket(buckets, HOUR, span);
  expect(bars).toHaveLength(60);
  expect(bars[0]).toEqual({ start: Date.parse("2026-11-22T15:00:00Z"), accepted: 3, refused: 1, peak: 3 });
  expect(bars.slice(1, 59).every(({ accepted, refused, peak }) => accepted + refused + peak === 0)).toBe(true);
  expect(bars[59]).toEqual({ start: Date.parse("2026-11-22T15:59:00Z"), accepted: 5, refused: 0, peak: 5 });
});

it("sums what each key made, and keeps the busiest minute, which is no sum", () => {
  const buckets = [bucket("2026-11-21T16:00:00Z", 4, 1, 3, "key_a"), bucket("2026-11-22T16:00:00Z", 6, 0, 2, "key_a")];
  expect(countsByKey([...buckets, bucket("2026-11-22T16:00:00Z", 1, 0, 1, "key_b")])).toEqual(
    new Map([
      ["key_a", { accepted: 10, refused: 1, peak: 3 }],
      ["key_b", { accepted: 1, refused: 0, peak: 1 }],
    ]),
  );
  expect(totalOf([])).toEqual({ accepted: 0, refused: 0, peak: 0 });
});

it("takes a refusal as proof that the limit was reached, not that it was the present one", () => {
  expect(besideLimit({ refused: 0 }, 240)).toBe(" of 240");
  // The clock's minutes divide a window, or the plan was a smaller one then.
  expect(besideLimit({ refused: 3 }, 240)).toBe(" or more, limit reached");
  expect(besideLimit({ refused: 3 }, undefined)).toBe(" or more, limit reached");
  expect(besideLimit({ refused: 0 }, undefined)).toBe("");
});

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
  expect(nameIn(USAGE_RANGES, name, USAGE_RANGE)).toBe("day");
});
