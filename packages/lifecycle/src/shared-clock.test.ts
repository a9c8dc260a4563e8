import { SharedClock } from "./shared-clock.ts";

const MINUTES_MS = 60_000;
const SHOWN = Date.parse("2026-11-24T08:00:00.000Z");

let elapsed: number;
/** By how much this machine's clock is ahead. */
let aheadMs: number;
let read: () => Promise<number>;
let clock: SharedClock;
beforeEach(() => {
  [elapsed, aheadMs] = [5_000, 0];
  read = away;
  clock = new SharedClock(() => read(), { now: () => SHOWN + elapsed + aheadMs, elapsed: () => elapsed });
});
afterEach(() => clock.stop());

const shown = async (): Promise<number> => SHOWN + elapsed;
const away = (): Promise<number> => Promise.reject(new Error("away"));

it.each([-10 * MINUTES_MS, 0, 10 * MINUTES_MS])("shows the shared time, and by how much the machine's differs: %s ms", async (ms) => {
  read = shown;
  await clock.measure();
  // Set while the process runs.
  aheadMs = ms;
  elapsed += 90_000;
  expect([clock.now(), clock.offsetSeconds]).toEqual([SHOWN + elapsed, ms / 1_000]);
});

it("is the machine's clock until the shared one was asked, and goes on when that no longer answers", async () => {
  aheadMs = 10 * MINUTES_MS;
  await expect(clock.measure()).rejects.toThrow("away");
  expect([clock.now(), clock.offsetSeconds]).toEqual([SHOWN + elapsed + aheadMs, 0]);
  read = shown;
  await clock.measure();
  read = away;
  await expect(clock.measure()).rejects.toThrow("away");
  elapsed += 90_000;
  expect([clock.now(), clock.offsetSeconds]).toEqual([SHOWN + elapsed, 600]);
});

it("keeps the measurement with the shortest round trip, until a later one shows that it is wrong by now", async () => {
  read = shown;
  await clock.measure();
  const slowly = (changedMs: number) => async () => {
    const then = SHOWN + elapsed + changedMs;
    elapsed += 2_000;
    return then;
  };
  read = slowly(0);
  await clock.measure();
  expect(clock.now()).toBe(SHOWN + elapsed);
  read = slowly(10 * MINUTES_MS);
  await clock.measure();
  // Half of the round trip is uncertain.
  expect(clock.now()).toBe(SHOWN + elapsed + 10 * MINUTES_MS - 1_000);
  read = async () => SHOWN + elapsed + 10 * MINUTES_MS;
  await clock.measure();
  expect(clock.now()).toBe(SHOWN + elapsed + 10 * MINUTES_MS);
});
