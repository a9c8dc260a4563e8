import { bucketOf, durationOf, NO_DURATION, quantile } from "./duration-bucket.ts";

it("shows every duration up to a day within 5%, in whole milliseconds", () => {
  for (let ms = 1; ms < 86_400_000; ms = Math.ceil(ms * 1.003)) {
    expect(Math.abs(durationOf(bucketOf(ms)) - ms)).toBeLessThanOrEqual(0.05 * ms + 0.5);
  }
});

it("gives a longer duration no lower bucket, and none the bucket of attempts without a duration", () => {
  const buckets = Array.from({ length: 20_000 }, (_, ms) => bucketOf(ms));
  expect(buckets).toEqual(buckets.toSorted((one, two) => one - two));
  expect(buckets[0]).toBeGreaterThan(NO_DURATION);
});

it("returns the duration that a share of the attempts did not exceed", () => {
  const counts = new Map([
    [bucketOf(3_000), 1],
    [bucketOf(20), 18],
    [bucketOf(900), 1],
  ]);
  expect([0.5, 0.9, 0.95, 0.951, 1].map((share) => quantile(counts, share))).toEqual(
    [20, 20, 900, 3_000, 3_000].map((ms) => durationOf(bucketOf(ms))),
  );
  expect(quantile(new Map(), 0.5)).toBeNull();
});
