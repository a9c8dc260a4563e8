import { durationText, filledHours } from "./hours.ts";

const stats = (accepted: number, failed: number) => ({ accepted, failed, p50_ms: null, p95_ms: null });

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
