import { eventually } from "@brand-records/testkit";
import { KeyedMutex, Mutex } from "./mutex.ts";

/** Work that ends when the test says so. */
function work<T>(result: T) {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let started = false;
  return {
    run: (): Promise<T> => {
      started = true;
      return promise;
    },
    hasStarted: () => started,
    finish: () => resolve(result),
    fail: () => reject(new Error(String(result))),
  };
}

/** Resolves after every continuation that is ready has run. */
const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe("Mutex", () => {
  it("runs work one after another, in the order of the calls", async () => {
    const mutex = new Mutex();
    const [first, second, third] = [work(1), work(2), work(3)];
    const results = [first, second, third].map(({ run }) => mutex.run(run));
    await eventually(() => expect(first.hasStarted()).toBe(true));
    third.finish();
    second.finish();
    await settle();
    expect([second.hasStarted(), third.hasStarted()]).toEqual([false, false]);
    first.finish();
    await expect(Promise.all(results)).resolves.toEqual([1, 2, 3]);
  });

  it("continues after a failure, which reaches its own caller only", async () => {
    const mutex = new Mutex();
    const failing = work("failed");
    const failed = mutex.run(failing.run);
    const next = mutex.run(async () => "next");
    const thrown = mutex.run(() => {
      throw new Error("failed before it began");
    });
    const last = mutex.run(async () => "last");
    failing.fail();
    const outcomes = await Promise.allSettled([failed, next, thrown, last]);
    expect(outcomes).toMatchObject([
      { reason: { message: "failed" } },
      { value: "next" },
      { reason: { message: "failed before it began" } },
      { value: "last" },
    ]);
  });

  it("drains once all work is done, failed work included", async () => {
    const mutex = new Mutex();
    await mutex.drain();
    const [first, second] = [work(1), work(2)];
    const results = [mutex.run(first.run), mutex.run(second.run)];
    let isDrained = false;
    const draining = mutex.drain().then(() => void (isDrained = true));
    first.finish();
    await settle();
    expect([isDrained, mutex.isIdle]).toEqual([false, false]);
    second.fail();
    await Promise.allSettled(results);
    await draining;
    expect(mutex.isIdle).toBe(true);
  });
});

describe("KeyedMutex", () => {
  it("runs work with the same key in order while other keys proceed", async () => {
    const mutex = new KeyedMutex();
    const stuck = work("stuck");
    const [running, waiting] = [mutex.run("a", stuck.run), mutex.run("a", async () => "waiting")];
    await expect(mutex.run("b", async () => "other")).resolves.toBe("other");
    stuck.finish();
    await expect(Promise.all([running, waiting])).resolves.toEqual(["stuck", "waiting"]);
  });

  it("counts the keys with work and forgets the others, also after failures", async () => {
    const mutex = new KeyedMutex();
    expect(mutex.size).toBe(0);
    const [a, b] = [work(1), work(2)];
    const all = [mutex.run("a", a.run), mutex.run("a", async () => 1), mutex.run("b", b.run)];
    expect(mutex.size).toBe(2);
    a.finish();
    b.fail();
    await Promise.allSettled(all);
    expect(mutex.size).toBe(0);
  });

  it("keeps a key whose next work arrives as the last one ends", async () => {
    const mutex = new KeyedMutex();
    const later = work("later");
    const second = mutex.run("a", async () => "first").then(() => mutex.run("a", later.run));
    await eventually(() => expect(later.hasStarted()).toBe(true));
    expect(mutex.size).toBe(1);
    const third = mutex.run("a", async () => "third");
    later.finish();
    await expect(Promise.all([second, third])).resolves.toEqual(["later", "third"]);
    expect(mutex.size).toBe(0);
  });
});
