import { fullDayText, instantsOf, isDay, today } from "./days.ts";

it("a day is Manila's: from its midnight until the next one's, whatever the zone of the browser", () => {
  const range = instantsOf({ from: "2026-11-20", to: "2026-11-20" });
  expect(range).toEqual({ from: "2026-11-20T00:00:00+08:00", to: "2026-11-21T00:00:00+08:00" });
  const isInRange = (at: string): boolean => Date.parse(at) >= Date.parse(range.from ?? "") && Date.parse(at) < Date.parse(range.to ?? "");
  // 23:59:59.999 on the 19th, 00:00 and 23:59:59.999 on the 20th, 00:00 on the 21st, in Manila.
  const instants = ["2026-11-19T15:59:59.999Z", "2026-11-19T16:00:00.000Z", "2026-11-20T15:59:59.999Z", "2026-11-20T16:00:00.000Z"];
  expect(instants.map(isInRange)).toEqual([false, true, true, false]);
});

it("the last day of a month or a year ends with the first of the next", () => {
  expect(instantsOf({ to: "2028-02-28" })).toEqual({ to: "2028-02-29T00:00:00+08:00" });
  expect(instantsOf({ to: "2026-12-31" })).toEqual({ to: "2027-01-01T00:00:00+08:00" });
});

it.each(["", "2026-02-30", "2026-13-01", "0002-11-20", "2026-1-1", "20261120", 20261120, undefined])("%p is no day", (text) => {
  expect(isDay(text)).toBe(false);
  expect(instantsOf({ from: text as string })).toEqual({});
});

it("a day in words is the day itself, and today is Manila's, whatever the zone of the browser", () => {
  expect(["2026-12-01", "0001-01-01", "9999-12-31"].map(fullDayText)).toEqual([
    "Tuesday, December 1, 2026",
    "Monday, January 1, 1",
    "Friday, December 31, 9999",
  ]);
  expect([new Date("2026-11-22T15:59:59.999Z"), new Date("2026-11-22T16:00:00Z")].map(today)).toEqual(["2026-11-22", "2026-11-23"]);
});
