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

const resource = (name: string) => ({ stop: async () => void stopped.push(name) });

it("stops its resources newest first, each after the previous one has stopped", async () => {
  let release = (): void => {};
  const slow = new Promise<void>((resolve) => void (release = resolve));
  life.own("pool", resource("pool"));
  life.own("server", { stop: () => slow.then(() => void stopped.push("server")) });
  const stopping = life.stop();
  await new Promise((resolve) => setImmediate(resolve));
  expect(stopped).toEqual([]);
  release();
  expect(await stopping).toBe(true);
  expect(stopped).toEqual(["server", "pool"]);
});

it("stops the rest if one throws or rejects while stopping, and logs which", async () => {
  const [thrown, rejected] = [new Error("thrown"), new Error("rejected")];
  life.own("first", resource("first"));
  life.own("throws", {
    stop: () => {
      throw thrown;
    },
  });
  life.own("between", resource("between"));
  life.own("rejects", { stop: () => Promise.reject(rejected) });
  life.own("last", resource("last"));
  expect(await life.stop()).toBe(false);
  expect(stopped).toEqual(["last", "between", "first"]);
  expect(logged).toEqual([
    { err: rejected, resource: "rejects" },
    { err: thrown, resource: "throws" },
  ]);
});

it("stops everything once, however often stop is called", async () => {
  life.own("pool", resource("pool"));
  expect(await Promise.all([life.stop(), life.stop()])).toEqual([true, true]);
  expect(await life.stop()).toBe(true);
  expect(stopped).toEqual(["pool"]);
});

it("is ready from markReady until stop is called, before anything has stopped", () => {
  life.own("pool", resource("pool"));
  expect(life.isReady).toBe(false);
  life.markReady();
  expect(life.isReady).toBe(true);
  void life.stop(60);
  expect(life.isReady).toBe(false);
  expect(stopped).toEqual([]);
});

it("returns the resource it takes over, so that wiring fits on one line", () => {
  const pool = resource("pool");
  expect(life.own("pool", pool)).toBe(pool);
});
