import { WakeSignal } from "./wake-signal.ts";

const FOREVER_MS = 2_000_000_000;

it("ends a wait when notified", async () => {
  const signal = new WakeSignal();
  const waiting = signal.wait(FOREVER_MS);
  signal.notify();
  await waiting;
});

it("keeps a notification until reset", async () => {
  const signal = new WakeSignal();
  signal.reset();
  signal.notify();
  await signal.wait(FOREVER_MS);
  await signal.wait(FOREVER_MS);
  signal.reset();
  let awake = false;
  const waiting = signal.wait(FOREVER_MS).then(() => void (awake = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(awake).toBe(false);
  signal.notify();
  await waiting;
});

it("ends a wait after its time", async () => {
  await new WakeSignal().wait(1);
});
