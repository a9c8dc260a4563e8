import { lastHours } from "./time-ranges.ts";

it("covers whole hours and ends with the present one", () => {
  const range = lastHours(24, Date.parse("2026-11-22T08:59:59.999Z"));
  expect(range).toEqual({ from: "2026-11-21T09:00:00.000Z", to: "2026-11-22T09:00:00.000Z" });
  expect(lastHours(24, Date.parse("2026-11-22T08:00:00.000Z"))).toEqual(range);
  expect(lastHours(1, Date.parse("2026-11-22T09:00:00.000Z"))).toEqual({ from: range.to, to: "2026-11-22T10:00:00.000Z" });
});
