import { manilaMinute, today } from "../../../parts/filters/days.ts";
import { earliestSince, readSince, readUntil, usualSince } from "./since.ts";

const NOW = Date.parse("2026-11-22T17:30:40Z");

it("writes a moment as Manila's minute and day, whatever the zone of the browser", () => {
  expect([manilaMinute(NOW), today(new Date(NOW))]).toEqual(["2026-11-23T01:30", "2026-11-23"]);
});

it("reads the start of that minute back", () => {
  expect(readSince(manilaMinute(usualSince(NOW)), NOW)).toEqual({ instant: "2026-11-22T01:30:00+08:00" });
});

it("accepts 30 days ago and now, and nothing beyond", () => {
  expect(readSince(manilaMinute(earliestSince(NOW)), NOW)).toHaveProperty("instant");
  expect(readSince(manilaMinute(earliestSince(NOW) - 120_000), NOW)).toEqual({ problem: expect.stringContaining("30 days") });
  expect(readSince(manilaMinute(NOW), NOW)).toHaveProperty("instant");
  expect(readSince(manilaMinute(NOW + 60_000), NOW)).toEqual({ problem: expect.stringContaining("future") });
});

it.each(["", "2026-11-22", "2026-02-30T25:00", "2026-11-22T09:20:30", "x"])("asks for a day and a time: %p", (text) => {
  expect(readSince(text, NOW)).toEqual({ problem: "Choose a day and a time." });
});

it("ends later than it starts, or now", () => {
  expect(readUntil("", "2026-11-22T01:30")).toEqual({ instant: undefined });
  expect(readUntil("2026-11-22T01:31", "2026-11-22T01:30")).toEqual({ instant: "2026-11-22T01:31:00+08:00" });
  expect(readUntil("2026-11-22T01:30", "2026-11-22T01:30")).toEqual({ problem: "Is before the start" });
  expect(readUntil("2026-11-22", "2026-11-22T01:30")).toEqual({ problem: "Choose a day and a time." });
});
