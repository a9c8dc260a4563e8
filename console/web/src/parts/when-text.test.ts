import { today } from "./filters/days.ts";
import { whenText, type Precision } from "./when-text.ts";

/** The text of a moment at a minute to midnight on New Year's Eve in Manila, or at another present. */
const textOf = (at: string, precision: Precision = {}, now = "2026-12-31T15:59:00Z"): string =>
  whenText(new Date(at), { day: today(new Date(at)), presentDay: today(new Date(now)) }, precision);

it("keeps the time of day across the turn of the year", () => {
  expect(textOf("2026-12-31T16:03:00Z")).toBe("Jan 1, 2027, 00:03");
  expect(textOf("2026-12-31T15:58:00Z", {}, "2026-12-31T16:00:00Z")).toBe("Dec 31, 2026, 23:58");
});

it("names day and year of an exact moment as far as they differ from the present", () => {
  const isExact = true;
  expect(textOf("2026-12-31T15:58:07Z", { isExact })).toBe("23:58:07");
  expect(textOf("2026-12-30T15:58:07Z", { isExact })).toBe("Dec 30, 23:58:07");
  expect(textOf("2025-12-31T15:58:07Z", { isExact })).toBe("Dec 31, 2025, 23:58:07");
});

it("leaves out the day of a brief moment of today alone", () => {
  expect(textOf("2026-12-31T15:58:00Z", { isBrief: true })).toBe("23:58");
  expect(textOf("2026-12-31T15:58:00Z")).toBe("Dec 31, 23:58");
  expect(textOf("2026-12-30T15:58:00Z", { isBrief: true })).toBe("Dec 30, 23:58");
});
