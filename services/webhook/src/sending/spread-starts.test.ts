import { setImmediate as turn } from "node:timers/promises";
import { SpreadStarts } from "./spread-starts.ts";

it("starts some in a turn of the event loop, in order, and lets the sockets be read between", async () => {
  const starts = new SpreadStarts(8);
  const started: number[] = [];
  for (let number = 0; number < 20; number += 1) starts.next(() => void started.push(number));
  expect(started).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  await turn();
  expect(started).toHaveLength(16);
  // Behind those that wait.
  starts.next(() => void started.push(20));
  expect(started).toHaveLength(16);
  await turn();
  expect(started).toEqual(Array.from({ length: 21 }, (_, number) => number));
  await turn();
  starts.next(() => void started.push(21));
  expect(started.at(-1)).toBe(21);
});
