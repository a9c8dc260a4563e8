import type { BuildName } from "../harness/programs.ts";
import type { Turn } from "./measure.ts";
import { summariseComparison } from "./against.ts";

/** One promise: two builds are compared by the turns of the same round. */

const turn = (variant: BuildName, gateway: number, records: number): Turn => ({
  variant,
  requests: 4_000,
  seconds: 4,
  requests_per_second: 1_000,
  p50_ms: 30,
  p99_ms: 60,
  foreign_cores: 0.1,
  cpu_ms_per_request: {
    [`gateway-${variant}`]: gateway,
    [`records-${variant}`]: records,
    [`accounts-${variant}`]: 0.03,
    postgres: 0.5,
    redis: 0.1,
  },
});

it("adds gateway and records, and reports the ratios within each round with median and spread", () => {
  const { figures, rounds } = summariseComparison([
    { turns: [turn("this", 0.5, 0.4), turn("other", 0.6, 0.4)], disturbed: false },
    { turns: [turn("other", 1.2, 0.8), turn("this", 1, 0.5)], disturbed: true },
    { turns: [turn("this", 0.3, 0.3), turn("other", 0.5, 0.5)], disturbed: false },
  ]);
  expect(rounds).toBe(3);
  const { ratio, this: own, other } = figures.gateway_and_records_cpu_ms;
  expect(ratio.median).toBeCloseTo(0.75);
  expect([ratio.min, ratio.max]).toEqual([expect.closeTo(0.6), expect.closeTo(0.9)]);
  expect([own.median, other.median]).toEqual([expect.closeTo(0.9), expect.closeTo(1)]);
  expect(figures.postgres_cpu_ms.ratio).toEqual({ median: 1, min: 1, max: 1 });
});
