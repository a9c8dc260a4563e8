import fc from "fast-check";
import { isCalendarDate } from "./calendar-date.ts";

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
const daysIn = (year: number, month: number): number => (DAYS[month - 1] ?? 0) + (month === 2 && isLeap(year) ? 1 : 0);
const written = (year: number, month: number, day: number): string =>
  [String(year).padStart(4, "0"), String(month).padStart(2, "0"), String(day).padStart(2, "0")].join("-");

it("takes the days the calendar has, from year 1 to 9999, and no others", () => {
  fc.assert(
    fc.property(fc.nat(9_999), fc.nat(14), fc.nat(33), (year, month, day) => {
      const there = year >= 1 && day >= 1 && day <= daysIn(year, month);
      expect(isCalendarDate(written(year, month, day))).toBe(there);
    }),
    { numRuns: 2_000 },
  );
});

it.each(["2024-02-29", "2000-02-29", "2026-12-31", "2026-01-01", "1999-06-15", "0001-01-01", "9999-12-31"])("takes %s", (text) => {
  expect(isCalendarDate(text)).toBe(true);
});

it.each([
  ["a 29 February of no leap year", "2023-02-29"],
  ["a 29 February of a century", "1900-02-29"],
  ["a 30 February", "2026-02-30"],
  ["a 31 April", "2026-04-31"],
  ["month 13", "2026-13-01"],
  ["month 0", "2026-00-10"],
  ["day 0", "2026-06-00"],
  ["year 0", "0000-01-01"],
  ["no leading zeros", "2026-2-3"],
  ["two digits of the year", "26-02-03"],
  ["five digits of the year", "12026-02-03"],
  ["a sign", "+2026-02-03"],
  ["a time as well", "2026-02-03T00:00:00Z"],
  ["a time after a space", "2026-02-03 00:00"],
  ["no dashes", "20260203"],
  ["slashes", "2026/02/03"],
  ["the day first", "03-02-2026"],
  ["a line break at the end", "2026-02-03\n"],
  ["white space around it", " 2026-02-03 "],
  ["digits of another script", "２０２６-０２-０３"],
  ["a week", "2026-W06-2"],
  ["a word", "tomorrow"],
  ["nothing", ""],
])("refuses %s", (_, text) => {
  expect(isCalendarDate(text)).toBe(false);
});
