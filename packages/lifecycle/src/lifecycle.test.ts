import { Lifecycle } from "./lifecycle.ts";

const logged: object[] = [];
const log = { info: () => {}, error: (fields: object) => void logged.push(fields) };
let stopped: string[];
let life: Lifecycle;
beforeEach(() => {
  stopped = [];
  logged.length = 0;
  life = new Lifecycle(log);
});

const thing = (name: string) => ({ stop: async () => void stopped.push(name) });

it("stops what it owns newest first, each after the one before has stopped", async () => {
  let release = (): void => {};
  const slow = new Promise<void>((resolve) => void (release = resolve));
  life.own("pool", thing("pool"));
  life.own("server", { stop: () => slow.then(() => void stopped.push("server")) });
  const stopping = life.stop();
  await new Promise((resolve) => setImmediate(resolve));
  expect(stopped).toEqual([]);
  release();
  expect(await stopping).toBe(true);
  expect(stopped).toEqual(["server", "pool"]);
});

it("stops the rest when one cannot be stopped, whether it throws or rejects, and tells which", async () => {
  const [thrown, rejected] = [new Error("thrown"), new Error("rejected")];
  life.own("first", thing("first"));
  life.own("throws", {
    stop: () => {
      throw thrown;
    },
  });
  life.own("between", thing("between"));
  life.own("rejects", { stop: () => Promise.reject(rejected) });
  life.own("last", thing("last"));
  expect(await life.stop()).toBe(false);
  expect(stopped).toEqual(["last", "between", "first"]);
  expect(logged).toEqual([
    { err: rejected, resource: "rejects" },
    { err: thrown, resource: "throws" },
  ]);
});

it("stops everything once, however often it is told to", async () => {
  life.own("pool", thing("pool"));
  expect(await Promise.all([life.stop(), life.stop()])).toEqual([true, true]);
  expect(await life.stop()).toBe(true);
  expect(stopped).toEqual(["pool"]);
});

it("is ready from when it is told so until it begins to stop, before anything has stopped", () => {
  life.own("pool", thing("pool"));
  expect(life.isReady).toBe(false);
  life.markReady();
  expect(life.isReady).toBe(true);
  void life.stop(60);
  expect(life.isReady).toBe(false);
  expect(stopped).toEqual([]);
});

it("answers what it is given to own, so that wiring reads as one line", () => {
  const pool = thing("pool");
  expect(life.own("pool", pool)).toBe(pool);
});
