import type { Outcome } from "./outcome.ts";
import { nextState, readRetryAfter, RETRY_DELAYS_SECONDS } from "./retry-schedule.ts";

const outcome = (more: Partial<Outcome>): Outcome => ({
  kind: "refused",
  httpStatus: 500,
  error: null,
  response: null,
  retryAfterSeconds: null,
  ...more,
});

it("has ten attempts: immediately, then after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h", () => {
  const hours = (n: number): number => n * 3_600;
  expect(RETRY_DELAYS_SECONDS).toEqual([5, 300, 1_800, hours(2), hours(5), hours(10), hours(14), hours(20), hours(24)]);
  for (const [index, delaySeconds] of RETRY_DELAYS_SECONDS.entries()) {
    expect(nextState(outcome({}), index + 1, 0)).toEqual({ state: "pending", delaySeconds });
    expect(nextState(outcome({}), index + 1, 1)).toEqual({ state: "pending", delaySeconds: delaySeconds * 1.2 });
  }
  expect(nextState(outcome({}), 10, 0)).toEqual({ state: "failed" });
});

it("ends in delivered if accepted, and in failed if it cannot be sent", () => {
  expect(nextState(outcome({ kind: "accepted", httpStatus: 200 }), 3, 0)).toEqual({ state: "delivered" });
  expect(nextState(outcome({ kind: "unsendable", httpStatus: null }), 1, 0)).toEqual({ state: "failed" });
});

it("follows a longer Retry-After, up to a day, and never a shorter one", () => {
  expect(nextState(outcome({ retryAfterSeconds: 60 }), 1, 0)).toEqual({ state: "pending", delaySeconds: 60 });
  expect(nextState(outcome({ retryAfterSeconds: 1 }), 2, 0)).toEqual({ state: "pending", delaySeconds: 300 });
  expect(nextState(outcome({ retryAfterSeconds: 1e9 }), 1, 0)).toEqual({ state: "pending", delaySeconds: 86_400 });
  expect(nextState(outcome({ retryAfterSeconds: 60 }), 10, 0)).toEqual({ state: "failed" });
});

it.each<[string | undefined, number | null]>([
  [undefined, null],
  ["120", 120],
  [" 0 ", 0],
  ["000000000060", 60],
  ["Sat, 21 Nov 2026 08:31:00 GMT", 60],
  ["Sat, 21 Nov 2026 08:00:00 GMT", 0],
  ["-1", null],
  ["1.5", null],
  ["soon", null],
  ["2026-11-21", null],
  ["Sat, 21 Nov 2026 08:30:60 GMT", 59],
  ["Saturday, 21-Nov-26 08:31:00 GMT", 60],
  ["Saturday, 21-Nov-76 08:30:00 GMT", 18_263 * 86_400],
  ["Monday, 21-Nov-77 08:30:00 GMT", 0],
  ["Sat Nov 21 08:31:00 2026", 60],
  ["Tue Dec  1 08:30:00 2026", 10 * 86_400],
  ["Sun Nov  6 08:49:37 1994", 0],
  ["sat, 21 Nov 2026 08:31:00 GMT", null],
  ["Sat, 21 Nov 2026 08:31:00", null],
  ["Sat, 21 Nov 2026 08:31:00 UTC", null],
  ["Sat, 21 Nov 2026 08:31:00 +0000", null],
  ["Sat, 31 Nov 2026 08:31:00 GMT", null],
  ["Sat, 00 Nov 2026 08:31:00 GMT", null],
  ["Sat, 21 Now 2026 08:31:00 GMT", null],
  ["Sat, 21 Nov 2026 24:00:00 GMT", null],
  ["Sat, 21 Nov 2026 08:61:00 GMT", null],
  ["Sat, 1 Nov 2026 08:31:00 GMT", null],
  ["Sat Nov 21 08:31:00 2026 GMT", null],
  ["21 Nov 2026 08:31:00 GMT", null],
  ["+60", null],
  ["1e3", null],
  ["0x10", null],
  ["60, 120", null],
  ["", null],
])("reads Retry-After %j as %j seconds", (header, seconds) => {
  expect(readRetryAfter(header, Date.parse("2026-11-21T08:30:00Z"))).toBe(seconds);
});

it.each(["86401", "9999999999", "9".repeat(310), "Sat, 21 Nov 2099 08:31:00 GMT"])("waits a day if Retry-After is longer: %s", (header) => {
  const retryAfterSeconds = readRetryAfter(header, Date.parse("2026-11-21T08:30:00Z"));
  expect(nextState(outcome({ retryAfterSeconds }), 1, 0)).toEqual({ state: "pending", delaySeconds: 86_400 });
});
