import { compareFigures } from "../harness/report.ts";
import { COMPARED } from "./compare-builds.ts";
import { callAtPace, doubtsAbout, p99BySecond, percentile } from "./steady.ts";
import { type BurstRound, ratiosToCalm } from "./measure.ts";
import { waitForCount } from "./database-state.ts";

/** One promise: the webhook benchmark's figures are formed within a round, and what disturbs them is reported. */

const phase = (p99_ms: number) => ({ p99_ms });
const round = (calm: number, hanging: number, dump: number) => ({
  calm: phase(calm),
  hanging: phase(hanging),
  backlog: phase(calm),
  backlog_alone: phase(Number.NaN),
  deleted_backlog: phase(4 * calm),
  calm_at_dump_rate: phase(2 * calm),
  dump: phase(dump),
});

it("compares each phase to the calm of its own round, and reports median and spread", () => {
  const ratios = ratiosToCalm([round(10, 15, 40), round(100, 120, 200), round(20, 60, 400)]);
  expect(ratios.healthy_p99_with_hanging_over_without).toEqual({ median: 1.5, min: 1.2, max: 3, rounds: [1.5, 1.2, 3], at_most: 1.3 });
  expect(ratios.p99_with_deleted_backlog_over_without).toMatchObject({ median: 4, min: 4, max: 4 });
});

it("compares the phase with a dump to the calm of its own rate", () => {
  expect(ratiosToCalm([round(10, 10, 40)]).p99_with_dump_over_without.rounds).toEqual([2]);
});

it("compares two builds by the bursts of the same round", () => {
  const of = (factor: number) => ({ wal_bytes_per_delivery: 6_000 * factor, deliveries_per_second: 2_000 / factor }) as BurstRound;
  const { wal_bytes_per_delivery, deliveries_per_second } = compareFigures(COMPARED, [
    { this: of(0.5), other: of(1) },
    { this: of(3), other: of(2) },
    { this: of(1), other: of(1) },
  ]);
  expect(wal_bytes_per_delivery.ratio).toEqual({ median: 1, min: 0.5, max: 1.5 });
  expect(wal_bytes_per_delivery.this.median).toBe(6_000);
  expect(deliveries_per_second.ratio.max).toBe(2);
});

it("assigns a latency to the second in which its event was created", () => {
  const createdAtMs = [999, 1_000, 1_500, 3_100, 3_200];
  expect(p99BySecond({ createdAtMs, latenciesMs: [5, 10, 20, 1, 2] }, 1_000)).toEqual([20, null, 2]);
});

it("has no percentile of nothing, rather than a perfect one", () => {
  expect(percentile([], 0.99)).toBeNull();
});

it("names a busy disk, missing events and other programs as reasons not to trust a phase", () => {
  const pace = { perSecond: 300, seconds: 20 };
  expect(doubtsAbout({ pace, seconds: 20.1, missing: 0, foreign_cores: 0.1 })).toEqual([]);
  expect(doubtsAbout({ pace, seconds: 30, missing: 7, foreign_cores: 1 })).toEqual([
    "its 20 s of changes took 30.0 s: the disk or the CPU is busy",
    "7 events did not arrive within 30 s",
    "other programs used 1.00 cores",
  ]);
});

it("makes every call at its time although earlier ones have not ended", async () => {
  const released = Promise.withResolvers<void>();
  let begun = 0;
  const paced = callAtPace({ perSecond: 500, seconds: 0.02 }, () => {
    begun += 1;
    if (begun === 10) released.resolve();
    return released.promise;
  });
  expect((await paced).callsMs).toHaveLength(10);
});

it("stops waiting for a number that no longer rises", async () => {
  let count = 0;
  expect(await waitForCount(() => Promise.resolve((count += 1)), 3, 1_000)).toBe(true);
  expect(await waitForCount(() => Promise.resolve(1), 3, 1)).toBe(false);
});
