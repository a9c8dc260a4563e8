import { KeyedSemaphore, NoRoomError, type SemaphoreBounds } from "./keyed-semaphore.ts";

const BOUNDS: SemaphoreBounds = { perKey: () => 2, total: 3, waitingPerKey: 2, waitingTotal: 3 };

/** Work of named callers. It ends when the test says so. */
function startWork(bounds: Partial<SemaphoreBounds> = {}) {
  const semaphore = new KeyedSemaphore({ ...BOUNDS, ...bounds });
  const running = new Map<string, (error?: Error) => void>();
  return {
    running: () => [...running.keys()],
    keys: () => semaphore.size,
    run: (key: string, name: string) =>
      semaphore.run(
        key,
        () =>
          new Promise<string>((resolve, reject) => {
            running.set(name, (error) => (error === undefined ? resolve(name) : reject(error)));
          }),
      ),
    /** Resolves when those that it lets run have begun. */
    async end(name: string, error?: Error): Promise<void> {
      running.get(name)?.(error);
      running.delete(name);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

it("runs as much as its bounds allow with one key and in all; keys that wait take turns", async () => {
  const { run, running, end } = startWork();
  const all = ["a1", "a2", "a3", "a4", "b1", "b2"].map((name) => run(name[0] ?? "", name));
  expect(running()).toEqual(["a1", "a2", "b1"]);
  await end("b1");
  expect(running()).toEqual(["a1", "a2", "b2"]);
  await end("a1");
  await end("b2");
  expect(running()).toEqual(["a2", "a3"]);
  await end("a2");
  await end("a3");
  await end("a4");
  expect(await Promise.all(all)).toEqual(["a1", "a2", "a3", "a4", "b1", "b2"]);
});

it("refuses a caller beyond those that may wait, with the key and in all, and no other", async () => {
  const { run, running, end } = startWork({ perKey: () => 1, waitingTotal: 3 });
  const all = ["a1", "a2", "a3", "b1", "b2"].map((name) => run(name[0] ?? "", name));
  await expect(run("a", "a4")).rejects.toThrow(NoRoomError);
  await expect(run("b", "b3")).rejects.toThrow(NoRoomError);
  const other = run("c", "c1");
  expect(running()).toEqual(["a1", "b1", "c1"]);
  for (const name of ["a1", "b1", "c1", "a2", "b2", "a3"]) await end(name);
  expect(await Promise.all([...all, other])).toEqual(["a1", "a2", "a3", "b1", "b2", "c1"]);
});

it("remembers no key without work, not even that of a caller that it refused", async () => {
  const { run, keys, end } = startWork({ total: 1, waitingTotal: 0 });
  const only = run("a", "a1");
  await expect(run("b", "b1")).rejects.toThrow(NoRoomError);
  expect(keys()).toBe(1);
  await end("a1");
  await only;
  expect(keys()).toBe(0);
});

it("goes on after work that fails, and follows a bound that changes", async () => {
  let perKey = 1;
  const { run, running, end } = startWork({ perKey: () => perKey });
  const [failing, ...others] = ["a1", "a2", "a3"].map((name) => run("a", name));
  perKey = 2;
  const failure = failing?.catch((error: Error) => error.message);
  await end("a1", new Error("ended"));
  expect(await failure).toBe("ended");
  expect(running()).toEqual(["a2", "a3"]);
  await end("a2");
  await end("a3");
  expect(await Promise.all(others)).toEqual(["a2", "a3"]);
});

it("refuses a caller that has waited for too long, and keeps no room for it", async () => {
  const { run, running, end, keys } = startWork({ perKey: () => 1, waitMs: 5 });
  const first = run("a", "a1");
  await expect(run("a", "a2")).rejects.toThrow("there was no room for 5 ms");
  await end("a1");
  await first;
  expect(keys()).toBe(0);
  const next = run("a", "a3");
  expect(running()).toEqual(["a3"]);
  await end("a3");
  await next;
});

it("keeps a key's new queue when a caller that was refused by the old one leaves", async () => {
  const { run, end, keys } = startWork({ total: 1, waitingPerKey: 1, waitingTotal: 1 });
  const running = run("x", "x1");
  const waiting = run("y", "y1");
  const refused = run("k", "k1").catch((error: Error) => error.name);
  const ended = end("x1");
  const later = Promise.resolve().then(() => run("k", "k2"));
  const refusedToo = Promise.resolve().then(() => run("k", "k3").catch((error: Error) => error.name));
  await ended;
  expect([await refused, await refusedToo]).toEqual(["NoRoomError", "NoRoomError"]);
  await end("y1");
  await end("k2");
  expect(await Promise.all([running, waiting, later])).toEqual(["x1", "y1", "k2"]);
  expect(keys()).toBe(0);
});
