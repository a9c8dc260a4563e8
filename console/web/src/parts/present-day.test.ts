import { dayChanges } from "./present-day.ts";

/** One promise: a page that stays open knows which day it is in Manila. */

let target: EventTarget;
let listener: jest.Mock;
let unsubscribe: () => void;
beforeEach(() => {
  // 23:59 in Manila.
  jest.useFakeTimers({ now: Date.parse("2026-11-26T15:59:00Z") });
  target = new EventTarget();
  listener = jest.fn();
  const subscribe = dayChanges(target);
  unsubscribe = subscribe(listener);
});
afterEach(() => jest.useRealTimers());

it("hears of each midnight in Manila, once", () => {
  jest.advanceTimersByTime(59_999);
  expect(listener).not.toHaveBeenCalled();
  jest.advanceTimersByTime(1);
  expect(listener).toHaveBeenCalledTimes(1);
  jest.advanceTimersByTime(24 * 3_600_000);
  expect(listener).toHaveBeenCalledTimes(2);
});

it("hears of a midnight that the tab has slept over when it shows again, and of the next one", () => {
  jest.setSystemTime(Date.parse("2026-11-27T01:00:00Z"));
  target.dispatchEvent(new Event("visibilitychange"));
  expect(listener).toHaveBeenCalledTimes(1);
  jest.advanceTimersByTime(15 * 3_600_000);
  expect(listener).toHaveBeenCalledTimes(2);
});

it("leaves nothing behind once no one listens", () => {
  unsubscribe();
  expect(jest.getTimerCount()).toBe(0);
  target.dispatchEvent(new Event("visibilitychange"));
  expect(listener).not.toHaveBeenCalled();
});
