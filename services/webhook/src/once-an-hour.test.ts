import { onceAnHour } from "./janitor.ts";

const HOUR_MS = 3_600_000;

it("runs once in each hour, as soon as it has begun", async () => {
  let [runs, now] = [0, 9.9 * HOUR_MS];
  const task = onceAnHour(
    async () => {
      runs += 1;
    },
    () => now,
  );
  for (const [hours, expected] of [
    [9.9, 1],
    [9.99, 1],
    [10, 2],
    [10.99, 2],
    [12, 3],
  ] as const) {
    now = hours * HOUR_MS;
    await task();
    expect(runs).toBe(expected);
  }
});

it("runs again after a failure", async () => {
  let [runs, fails] = [0, true];
  const task = onceAnHour(
    async () => {
      runs += 1;
      if (fails) throw new Error("no connection");
    },
    () => 0,
  );
  await expect(task()).rejects.toThrow("no connection");
  await expect(task()).rejects.toThrow("no connection");
  fails = false;
  await task();
  await task();
  expect(runs).toBe(3);
});
