import { stopWithin } from "./stop-within.ts";

it("stops with the resource, or without it once the time is up", async () => {
  let stopped = 0;
  await stopWithin({ stop: async () => void (stopped += 1) }, 10_000).stop();
  expect(stopped).toBe(1);
  await stopWithin({ stop: () => new Promise<void>(() => {}) }, 1).stop();
});

it("tells what kept the resource from stopping", async () => {
  await expect(stopWithin({ stop: () => Promise.reject(new Error("stuck")) }, 10_000).stop()).rejects.toThrow("stuck");
});
