import fc from "fast-check";
import { isCalendarDate } from "./field-schemas.ts";

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
const daysIn = (year: number, month: number): number => (DAYS[month - 1] ?? 0) + (month === 2 && isLeap(year) ? 1 : 0);
const dateText = (year: number, month: number, day: number): string =>
  [String(year).padStart(4, "0"), String(month).padStart(2, "0"), String(day).padStart(2, "0")].join("-");

it("accepts exactly the days of the calendar, from year 1 to 9999", () => {
  fc.assert(
    fc.property(fc.nat(9_999), fc.nat(14), fc.nat(33), (year, month, day) => {
      const exists = year >= 1 && day >= 1 && day <= daysIn(year, month);
      expect(isCalendarDate(dateText(year, month, day))).toBe(exists);
    }),
    { numRuns: 2_000 },
  );
});

it.each([
  ["29 February of a year that is not a leap year", "2023-02-29"],
  ["30 February", "2026-02-30"],
  ["month 13", "2026-13-01"],
  ["year 0", "0000-01-01"],
  ["no leading zeros", "2026-2-3"],
  ["a five-digit year", "12026-02-03"],
  ["a time as well", "2026-02-03T00:00:00Z"],
  ["no dashes", "20260203"],
  ["a line break at the end", "2026-02-03\n"],
  ["white space around it", " 2026-02-03 "],
  ["digits of another script", "２０２６-０２-０３"],
  ["an empty text", ""],
])("refuses %s", (_, text) => {
  expect(isCalendarDate(text)).toBe(false);
});
