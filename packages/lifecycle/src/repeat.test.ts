import { eventually } from "@brand-records/testkit";
import { repeat } from "./repeat.ts";

it("runs the work immediately and repeatedly, one round at a time", async () => {
  let [running, most, rounds] = [0, 0, 0];
  const repeating = repeat(async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, 2));
    running -= 1;
    rounds += 1;
  }, 1);
  expect(running).toBe(1);
  await eventually(() => expect(rounds).toBeGreaterThan(3));
  await repeating.stop();
  expect(most).toBe(1);
});

it("finishes work in progress when stopped, and starts no more", async () => {
  let end = (): void => {};
  let [started, ended] = [0, 0];
  const repeating = repeat(async () => {
    started += 1;
    await new Promise<void>((resolve) => void (end = resolve));
    ended += 1;
  }, 0);
  const stopping = repeating.stop();
  end();
  await stopping;
  await new Promise((resolve) => setImmediate(resolve));
  expect([started, ended]).toEqual([1, 1]);
});
