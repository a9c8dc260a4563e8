import fc from "fast-check";
import { HISTORY, paydayFrom, timeline } from "./timeline.ts";

const now = Date.UTC(2026, 10, 21, 8, 30);

describe("timeline", () => {
  it("never goes back, and stays within the year before now", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4_000 }), fc.nat(), fc.integer({ min: 0, max: 86_400_000 }), (count, stream, shift) => {
        const at = timeline(count, stream, now + shift);
        const times = Array.from({ length: count }, (_, index) => at(index));
        expect(times).toEqual(times.toSorted((a, b) => a - b));
        expect(times[0]).toBeGreaterThanOrEqual(now + shift - HISTORY);
        expect(times.at(-1)).toBeLessThanOrEqual(now + shift);
      }),
      { numRuns: 50 },
    );
  });
});

describe("paydayFrom", () => {
  it.each([
    ["2026-11-20T02:00:00.000Z", "2026-11-20T02:00:00.000Z"],
    ["2026-11-20T02:00:00.001Z", "2026-11-27T02:00:00.000Z"],
    ["2026-11-21T08:30:00.000Z", "2026-11-27T02:00:00.000Z"],
  ])("is the Friday at ten in Manila on or after %s", (from, payday) => {
    expect(new Date(paydayFrom(Date.parse(from))).toISOString()).toBe(payday);
  });
});
