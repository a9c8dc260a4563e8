import type { Delivery } from "@brand-records/console-contract";
import { pollMs } from "./polling.ts";

const NOW = Date.parse("2026-11-22T08:00:00Z");
const delivery = (state: Delivery["state"], dueInMs?: number): Delivery =>
  ({ state, due_at: dueInMs === undefined ? null : new Date(NOW + dueInMs).toISOString() }) as Delivery;

it.each([
  ["nothing moves", [delivery("delivered"), delivery("failed"), delivery("held")], 15_000],
  ["the next attempt is minutes away", [delivery("pending", 300_000)], 15_000],
  ["the next attempt is due soon", [delivery("delivered"), delivery("pending", 9_000)], 1_500],
  ["an attempt is overdue", [delivery("pending", -60_000)], 1_500],
  ["one is being sent", [delivery("sending")], 1_500],
  ["nothing is loaded yet", undefined, 15_000],
])("if %s, looks again in %#: %p", (_, deliveries, expected) => {
  expect(pollMs(deliveries, { now: NOW })).toBe(expected);
});

it("looks at once at a live list", () => {
  expect(pollMs([], { isLive: true, now: NOW })).toBe(1_500);
});
