import { eventually } from "@brand-records/testkit";
import { KeyedMutex } from "./keyed-mutex.ts";

/** Work that ends when it is told to. */
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

/** Everything that can go on by itself has. */
const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

it("runs work of one key one after another, in the order in which it came", async () => {
  const turns = new KeyedMutex();
  const [first, second, third] = [work(1), work(2), work(3)];
  const answers = [first, second, third].map(({ run }) => turns.run("a", run));
  await eventually(() => expect(first.hasStarted()).toBe(true));
  third.finish();
  second.finish();
  await settle();
  expect([second.hasStarted(), third.hasStarted()]).toEqual([false, false]);
  first.finish();
  await expect(Promise.all(answers)).resolves.toEqual([1, 2, 3]);
});

it("never has two of one key under way, and keeps the order of any number", async () => {
  const turns = new KeyedMutex();
  const order: number[] = [];
  let underWay = 0;
  const once = async (index: number): Promise<void> => {
    underWay += 1;
    expect(underWay).toBe(1);
    await settle();
    order.push(index);
    underWay -= 1;
  };
  const indexes = Array.from({ length: 300 }, (_, index) => index);
  await Promise.all(indexes.map((index) => turns.run("a", () => once(index))));
  expect(order).toEqual(indexes);
});

it("lets one key wait for no other", async () => {
  const turns = new KeyedMutex();
  const stuck = work("stuck");
  const [waiting, behind] = [turns.run("a", stuck.run), turns.run("a", async () => "behind")];
  await expect(turns.run("b", async () => "other")).resolves.toBe("other");
  stuck.finish();
  await expect(Promise.all([waiting, behind])).resolves.toEqual(["stuck", "behind"]);
});

it("goes on after work that failed, and tells only its own caller", async () => {
  const turns = new KeyedMutex();
  const failing = work("went wrong");
  const failed = turns.run("a", failing.run);
  const next = turns.run("a", async () => "next");
  const thrown = turns.run("a", () => {
    throw new Error("before it began");
  });
  const last = turns.run("a", async () => "last");
  failing.fail();
  const outcomes = await Promise.allSettled([failed, next, thrown, last]);
  expect(outcomes).toMatchObject([
    { reason: { message: "went wrong" } },
    { value: "next" },
    { reason: { message: "before it began" } },
    { value: "last" },
  ]);
});

it("counts keys with work under way, and forgets those that have none, also after failures", async () => {
  const turns = new KeyedMutex();
  expect(turns.size).toBe(0);
  const [mine, yours] = [work(1), work(2)];
  const all = [turns.run("a", mine.run), turns.run("a", async () => 1), turns.run("b", yours.run)];
  expect(turns.size).toBe(2);
  mine.finish();
  yours.fail();
  await Promise.allSettled(all);
  await eventually(() => expect(turns.size).toBe(0));
});

it("still has the turn of who came while the last one left", async () => {
  const turns = new KeyedMutex();
  const later = work("later");
  const second = turns.run("a", async () => "first").then(() => turns.run("a", later.run));
  await eventually(() => expect(later.hasStarted()).toBe(true));
  expect(turns.size).toBe(1);
  const third = turns.run("a", async () => "third");
  later.finish();
  await expect(Promise.all([second, third])).resolves.toEqual(["later", "third"]);
  await eventually(() => expect(turns.size).toBe(0));
});
