import { eventually } from "@brand-records/testkit";
import { repeat } from "./repeat.ts";

it("works at once, and again and again, one time after the other", async () => {
  let [underWay, most, times] = [0, 0, 0];
  const repeating = repeat(async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise((resolve) => setTimeout(resolve, 2));
    underWay -= 1;
    times += 1;
  }, 1);
  expect(underWay).toBe(1);
  await eventually(() => expect(times).toBeGreaterThan(3));
  await repeating.stop();
  expect(most).toBe(1);
});

it("finishes what is under way when it is stopped, and begins nothing more", async () => {
  let end = (): void => {};
  let [begun, ended] = [0, 0];
  const repeating = repeat(async () => {
    begun += 1;
    await new Promise<void>((resolve) => void (end = resolve));
    ended += 1;
  }, 0);
  const stopping = repeating.stop();
  end();
  await stopping;
  await new Promise((resolve) => setImmediate(resolve));
  expect([begun, ended]).toEqual([1, 1]);
});
