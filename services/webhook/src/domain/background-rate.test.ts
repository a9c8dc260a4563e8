import { BackgroundRate } from "./background-rate.ts";

const STEP_MS = 10;
const USUAL_MS = 3;

/** A machine that does `capacity` units a second. What it has not done waits, fresh and background work alike. */
class Machine {
  queue = 0;
  now = 0;
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get waitMs(): number {
    return USUAL_MS + (this.queue / this.#capacity) * 1_000;
  }

  /** Runs for some time with processes that have an endless backlog. Returns the background rates and the waits of the last second. */
  run(seconds: number, processes: readonly BackgroundRate[], freshPerSecond: number | ((second: number) => number), extraWaitMs = 0) {
    const waits: number[] = [];
    const taken = processes.map(() => 0);
    for (let step = 0; step < (seconds * 1_000) / STEP_MS; step += 1) {
      this.now += STEP_MS;
      const isLast = step >= ((seconds - 1) * 1_000) / STEP_MS;
      const perSecond = typeof freshPerSecond === "number" ? freshPerSecond : freshPerSecond((step * STEP_MS) / 1_000);
      const fresh = (perSecond * STEP_MS) / 1_000;
      this.queue = Math.max(0, this.queue + fresh - (this.#capacity * STEP_MS) / 1_000);
      for (const [index, each] of processes.entries()) {
        if (perSecond > 0) each.waited(this.waitMs + extraWaitMs, this.now);
        const units = each.take(100, this.now);
        this.queue += units;
        if (isLast) taken[index] = (taken[index] ?? 0) + units;
      }
      if (isLast) waits.push(this.waitMs);
    }
    return { taken, wait: Math.max(...waits) };
  }
}

const total = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);

it("takes what fresh work leaves, with waits near the target", () => {
  const { taken, wait } = new Machine(2_000).run(60, [new BackgroundRate()], 300);
  expect(taken[0]).toBeGreaterThan(1_500);
  expect(wait).toBeLessThan(USUAL_MS + 17);
});

it("shrinks when fresh work comes in a step, and grows again after it", () => {
  const machine = new Machine(2_000);
  const rate = new BackgroundRate();
  machine.run(30, [rate], 300);
  expect(machine.run(3, [rate], 1_400).taken[0]).toBeLessThan(700);
  expect(machine.run(20, [rate], 300).taken[0]).toBeGreaterThan(1_300);
});

it("follows a saw-tooth of fresh work", () => {
  const saw = (second: number): number => 300 + 100 * (second % 10);
  const { wait } = new Machine(2_000).run(60, [new BackgroundRate()], saw);
  expect(wait).toBeLessThan(USUAL_MS + 20);
});

it("has everything without fresh work, and its least at once when there is some", () => {
  const machine = new Machine(5_000);
  const rate = new BackgroundRate();
  machine.run(10, [rate], 300);
  machine.run(2, [rate], 0);
  expect([rate.untilBatch(machine.now), rate.take(4_000, machine.now)]).toEqual([0, 4_000]);
  expect(machine.run(1, [rate], 300).taken[0]).toBeLessThan(800);
});

it("grows beside a few events whose waits differ", () => {
  const rate = new BackgroundRate();
  // Means of 2 to 4 ms.
  for (let now = 0; now < 60_000; now += 200) rate.waited(1 + ((now / 200) % 5), now);
  rate.take(10_000, 60_000);
  expect(rate.take(10_000, 60_100)).toBeGreaterThan(150);
});

it("keeps its least on a machine that has nothing left, so that a backlog ends", () => {
  const { taken } = new Machine(250).run(10, [new BackgroundRate()], 300);
  expect(taken[0]).toBeGreaterThanOrEqual(480);
  expect(taken[0]).toBeLessThanOrEqual(520);
});

it("leaves two processes of one database their least at least, and takes together what is left", () => {
  const rates = [new BackgroundRate(), new BackgroundRate()];
  const machine = new Machine(3_000);
  machine.run(20, rates.slice(0, 1), 300);
  const { taken, wait } = machine.run(60, rates, 300);
  expect(Math.min(...taken)).toBeGreaterThanOrEqual(480);
  expect(total(taken)).toBeGreaterThan(2_200);
  expect(wait).toBeLessThan(USUAL_MS + 20);
});

it("takes a lasting change of the waits for usual after two minutes, as after a jump of a clock", () => {
  const machine = new Machine(2_000);
  const rate = new BackgroundRate();
  machine.run(30, [rate], 300);
  expect(machine.run(60, [rate], 300, 1_000).taken[0]).toBeLessThan(520);
  expect(machine.run(120, [rate], 300, 1_000).taken[0]).toBeGreaterThan(1_300);
  // Back again: less is usual at once.
  expect(machine.run(20, [rate], 300).taken[0]).toBeGreaterThan(1_300);
});

it("gives no burst after a pause", () => {
  const rate = new BackgroundRate();
  for (let now = 0; now < 5_000; now += STEP_MS) rate.waited(USUAL_MS, now);
  expect(rate.take(10_000, 5_900)).toBeLessThan(500);
});

it("gives again what was given back, and no burst of it", () => {
  const rate = new BackgroundRate();
  for (let now = 0; now <= 1_000; now += STEP_MS) rate.waited(USUAL_MS, now);
  const taken = rate.take(1_000, 1_000);
  expect(rate.take(1, 1_000)).toBe(0);
  rate.giveBack(taken);
  expect(rate.take(1_000, 1_000)).toBe(taken);
  rate.giveBack(10_000);
  expect(rate.take(10_000, 1_000)).toBeLessThanOrEqual(taken + 1);
});
