import { bucketOf, durationOf, NO_DURATION } from "./duration-bucket.ts";

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
