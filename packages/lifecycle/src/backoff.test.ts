import { Backoff, withFullJitter } from "./backoff.ts";

const pauses = (backoff: Backoff, count: number): number[] => Array.from({ length: count }, () => backoff.next());

it("doubles each pause up to the limit, and begins again after a success", () => {
  const backoff = new Backoff(100, 1_000);
  expect(pauses(backoff, 6)).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  backoff.reset();
  expect(pauses(backoff, 2)).toEqual([100, 200]);
});

it("spreads a pause over all of its length", () => {
  expect(withFullJitter(800, 0)).toBe(0);
  expect(withFullJitter(800, 0.25)).toBe(200);
  expect(withFullJitter(800, 1)).toBe(800);
  const spread = Array.from({ length: 1_000 }, () => withFullJitter(800));
  expect(Math.min(...spread)).toBeLessThan(80);
  expect(Math.max(...spread)).toBeGreaterThan(720);
});
