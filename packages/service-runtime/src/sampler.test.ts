import { sampler } from "./sampler.ts";

/** Pause between two scrapes of Prometheus. */
const SCRAPE_MS = 15_000;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** Resolves to what a scrape shows, at most a second later. */
async function scrape<T>(sampled: () => Promise<T>): Promise<T> {
  const shown = sampled();
  await jest.advanceTimersByTimeAsync(1_000);
  return shown;
}

/** Scrapes every 15 s. */
async function scrapeRepeatedly<T>(sampled: () => Promise<T>, times: number): Promise<T[]> {
  const shown: T[] = [];
  for (let time = 0; time < times; time += 1) {
    shown.push(await scrape(sampled));
    await jest.advanceTimersByTimeAsync(SCRAPE_MS - 1_000);
  }
  return shown;
}

const after = <T>(milliseconds: number, value: T): Promise<T> => new Promise((resolve) => setTimeout(resolve, milliseconds, value));
const never = (): Promise<never> => new Promise(() => {});

it("reads once for all gauges of a scrape, and again only after five seconds", async () => {
  let reads = 0;
  const sampled = sampler(async () => (reads += 1));
  expect(await Promise.all([sampled(), sampled()])).toEqual([1, 1]);
  await jest.advanceTimersByTimeAsync(4_999);
  expect(await sampled()).toBe(1);
  await jest.advanceTimersByTimeAsync(1);
  expect(await sampled()).toBe(2);
});

it("returns undefined within a second while the first read hangs, and starts no second one", async () => {
  let reads = 0;
  const sampled = sampler(() => {
    reads += 1;
    return never();
  });
  expect(await scrapeRepeatedly(sampled, 3)).toEqual([undefined, undefined, undefined]);
  expect(reads).toBe(1);
});

it.each([1_001, 1_500, 4_000])("shows the sample before it while a read takes %p ms", async (milliseconds) => {
  let reads = 0;
  const sampled = sampler(() => after(milliseconds, (reads += 1)));
  expect(await scrapeRepeatedly(sampled, 5)).toEqual([undefined, 1, 2, 3, 4]);
});

it("returns undefined at the second scrape while a read hangs after others that did not", async () => {
  let reads = 0;
  const sampled = sampler(() => ((reads += 1) === 1 ? after(10, "read") : never()));
  expect(await scrapeRepeatedly(sampled, 4)).toEqual(["read", "read", undefined, undefined]);
});

it("returns undefined after five seconds of a hanging read where scrapes are frequent", async () => {
  let reads = 0;
  const sampled = sampler(() => ((reads += 1) === 1 ? after(10, "read") : never()));
  const shown: unknown[] = [];
  for (let second = 0; second < 12; second += 1) shown.push(await scrape(sampled));
  expect(shown.lastIndexOf("read")).toBeLessThan(10);
  expect(shown.slice(10)).toEqual([undefined, undefined]);
});

it("returns undefined at once if the read fails, and the sample of the next one that does not", async () => {
  const results = [async () => 1, () => Promise.reject(new Error("no database")), async () => 3];
  const sampled = sampler(() => results.shift()?.() ?? never());
  expect(await scrapeRepeatedly(sampled, 3)).toEqual([1, undefined, 3]);
});

it("does not show a sample that is older than 30 seconds", async () => {
  let reads = 0;
  const sampled = sampler(() => after((reads += 1) === 1 ? 10 : 2_000, reads));
  expect(await scrape(sampled)).toBe(1);
  await jest.advanceTimersByTimeAsync(30_000);
  expect(await scrape(sampled)).toBeUndefined();
});
