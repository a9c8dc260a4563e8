import { Mutex } from "./mutex.ts";

it("runs one piece of work at a time, in the order of the calls", async () => {
  const mutex = new Mutex();
  const steps: string[] = [];
  const work = (name: string) => async () => {
    steps.push(`${name} starts`);
    await new Promise((resolve) => setImmediate(resolve));
    steps.push(`${name} ends`);
    return name;
  };
  expect(await Promise.all([mutex.run(work("a")), mutex.run(work("b"))])).toEqual(["a", "b"]);
  expect(steps).toEqual(["a starts", "a ends", "b starts", "b ends"]);
});

it("rejects the call whose work failed, and runs what waits behind it", async () => {
  const mutex = new Mutex();
  const failed = mutex.run(() => Promise.reject(new Error("failed")));
  const next = mutex.run(async () => "next");
  await expect(failed).rejects.toThrow("failed");
  expect(await next).toBe("next");
});
