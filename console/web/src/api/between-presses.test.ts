import { betweenPresses } from "./between-presses.ts";

/** One promise: nothing that is read in the background is shown between a press and its click. */

let target: EventTarget;
let ran: string[];
let run: (name: string) => void;
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ["queueMicrotask"] });
  target = new EventTarget();
  ran = [];
  const schedule = betweenPresses(target);
  run = (name) => schedule(() => void ran.push(name));
});
afterEach(() => jest.useRealTimers());

const dispatch = (type: string): void => void target.dispatchEvent(new Event(type));
const microtasks = (): Promise<void> => Promise.resolve();

it("runs callbacks before the next event while nothing is pressed", async () => {
  run("a");
  expect(ran).toEqual([]);
  await microtasks();
  expect(ran).toEqual(["a"]);
});

it("holds them from the press to the click, in order", async () => {
  dispatch("pointerdown");
  run("a");
  run("b");
  await microtasks();
  dispatch("pointerup");
  await microtasks();
  expect(ran).toEqual([]);
  dispatch("click");
  run("c");
  await microtasks();
  expect(ran).toEqual(["a", "b", "c"]);
});

it.each(["pointerup", "pointercancel"])("goes on after %s without a click", async (end) => {
  dispatch("pointerdown");
  run("a");
  dispatch(end);
  jest.advanceTimersByTime(99);
  await microtasks();
  expect(ran).toEqual([]);
  jest.advanceTimersByTime(1);
  await microtasks();
  expect(ran).toEqual(["a"]);
});

it("holds them for a second at most, counted from the last press", async () => {
  dispatch("pointerdown");
  run("a");
  jest.advanceTimersByTime(900);
  dispatch("pointerdown");
  jest.advanceTimersByTime(999);
  await microtasks();
  expect(ran).toEqual([]);
  jest.advanceTimersByTime(1);
  await microtasks();
  expect(ran).toEqual(["a"]);
});
