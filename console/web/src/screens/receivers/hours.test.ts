import { durationText, filledHours, lastHours } from "./hours.ts";

const stats = (accepted: number, failed: number) => ({ accepted, failed, p50_ms: null, p95_ms: null });

it("covers whole hours and ends with the present one", () => {
  const range = lastHours(24, Date.parse("2026-11-22T08:59:59.999Z"));
  expect(range).toEqual({ from: "2026-11-21T09:00:00.000Z", to: "2026-11-22T09:00:00.000Z" });
  expect(lastHours(24, Date.parse("2026-11-22T08:00:00.000Z"))).toEqual(range);
  expect(lastHours(1, Date.parse("2026-11-22T09:00:00.000Z"))).toEqual({ from: range.to, to: "2026-11-22T10:00:00.000Z" });
});

it("shows hours without attempts empty, and each hour once, in order", () => {
  const range = { from: "2026-11-22T05:00:00.000Z", to: "2026-11-22T09:00:00.000Z" };
  const hours = [
    { hour: "2026-11-22T08:00:00.000Z", stats: stats(1, 0) },
    { hour: "2026-11-22T06:00:00.000Z", stats: stats(2, 3) },
  ];
  expect(filledHours(hours, range).map(({ at, accepted, failed }) => [new Date(at).getUTCHours(), accepted, failed])).toEqual([
    [5, 0, 0],
    [6, 2, 3],
    [7, 0, 0],
    [8, 1, 0],
  ]);
  expect(filledHours([], range)).toHaveLength(4);
  expect(filledHours([], { from: range.to, to: range.from })).toEqual([]);
});

it.each([
  [0, "0 ms"],
  [999, "999 ms"],
  [1_234, "1.2 s"],
])("%p ms: %s", (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
