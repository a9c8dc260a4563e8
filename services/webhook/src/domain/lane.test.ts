import { recordFailure, type FailureClock } from "./failure-clock.ts";
import { afterOutcomes, type LaneOutcome, type LaneState } from "./lane.ts";

const HOUR = 3_600_000;
const NOW = Date.parse("2026-11-21T08:30:00Z");

const lane = (more: Partial<LaneState> = {}): LaneState => ({
  maxInFlight: 8,
  failedInARow: 0,
  trips: 0,
  openedAt: null,
  failures: 0,
  lastStatus: null,
  lastOutcome: null,
  pauseNoted: false,
  firstFailureAt: null,
  failingSince: null,
  ...more,
});
const startedAt = NOW - 100;
const accepted: LaneOutcome = { startedAt, kind: "accepted", httpStatus: 204, test: false };
const failed: LaneOutcome = { startedAt, kind: "refused", httpStatus: 500, test: false };
const many = (outcome: LaneOutcome, count: number): LaneOutcome[] => Array.from({ length: count }, () => outcome);
const after = (before: LaneState, outcomes: readonly LaneOutcome[], limit = 64) => afterOutcomes(before, outcomes, limit, NOW);

it("grows from 8 to 64 while attempts succeed, and halves with every failure, down to one", () => {
  expect(after(lane(), many(accepted, 10)).lane.maxInFlight).toBe(18);
  expect(after(lane(), many(accepted, 1_000)).lane.maxInFlight).toBe(64);
  expect(after(lane({ maxInFlight: 64 }), [failed]).lane.maxInFlight).toBe(32);
  expect(after(lane({ maxInFlight: 64 }), many(failed, 9)).lane.maxInFlight).toBe(1);
});

it("never grows beyond the receiver's limit", () => {
  expect(after(lane({ maxInFlight: 1 }), many(accepted, 50), 1).lane.maxInFlight).toBe(1);
  expect(after(lane({ maxInFlight: 4 }), many(accepted, 50), 10).lane.maxInFlight).toBe(10);
});

it("opens the circuit at the tenth failure in a row, for 5 s, and twice as long with each further failure, up to 5 min", () => {
  expect(after(lane(), many(failed, 9)).openSeconds).toBeUndefined();
  const opened = after(lane({ failedInARow: 9 }), [failed]);
  expect(opened).toMatchObject({ openSeconds: 5, lane: { failedInARow: 10, trips: 1 } });
  const seconds: (number | undefined)[] = [];
  let state = opened.lane;
  for (let probe = 0; probe < 8; probe += 1) {
    const change = after(state, [{ ...failed, startedAt: NOW + 1 }]);
    seconds.push(change.openSeconds);
    state = change.lane;
  }
  expect(seconds).toEqual([10, 20, 40, 80, 160, 300, 300, 300]);
  expect(after(state, [accepted])).toMatchObject({ openSeconds: undefined, lane: { failedInARow: 0, trips: 0 } });
});

it("is not changed by what the egress proxy refused, but for the last outcome; a probe keeps the pause as it is", () => {
  const refused: LaneOutcome = { startedAt: NOW + 1, kind: "proxy_refused", httpStatus: null, test: false };
  const healthy = lane({ maxInFlight: 20 });
  const unharmed = { openSeconds: undefined, disable: undefined, lane: { ...healthy, lastStatus: 0, lastOutcome: "proxy_refused" } };
  expect(after(healthy, many(refused, 50))).toEqual(unharmed);
  const failing = lane({ failedInARow: 3, failures: 3, failingSince: NOW - 6 * 24 * HOUR, firstFailureAt: NOW - 7 * 24 * HOUR });
  expect(after(failing, [refused])).toMatchObject({ openSeconds: undefined, disable: undefined, lane: { failedInARow: 3, failures: 3 } });
  const open = lane({ failedInARow: 12, trips: 3, openedAt: NOW - 20_000 });
  expect(after(open, [refused])).toMatchObject({ openSeconds: 20, lane: { failedInARow: 12, trips: 3, openedAt: NOW } });
  expect(after(open, [{ ...refused, startedAt: NOW - 30_000 }])).toMatchObject({ openSeconds: undefined });
});

it("has no status of a response after an attempt without one", () => {
  const timedOut: LaneOutcome = { startedAt: NOW, kind: "timeout", httpStatus: null, test: false };
  expect(after(lane({ lastStatus: 204 }), [timedOut]).lane).toMatchObject({ lastStatus: 0, lastOutcome: "timeout" });
});

it("stays paused until the pause was to end by tests that fail, however many, and not by one that is accepted", () => {
  const failedTest: LaneOutcome = { ...failed, startedAt: NOW + 1, test: true };
  const open = lane({ failedInARow: 12, trips: 3, openedAt: NOW - 15_000, failures: 12 });
  expect(after(open, many(failedTest, 3))).toEqual({
    lane: { ...open, lastStatus: 500, lastOutcome: "refused" },
    openSeconds: 5,
    disable: undefined,
  });
  expect(after({ ...open, openedAt: NOW - 20_000 }, [failedTest])).toMatchObject({ openSeconds: undefined });
  expect(after(open, [{ ...failedTest, startedAt: NOW - 30_000 }])).toMatchObject({ openSeconds: undefined });
  expect(after(open, [{ ...accepted, startedAt: NOW + 1, test: true }])).toMatchObject({
    openSeconds: undefined,
    lane: { failedInARow: 12, trips: 3, openedAt: NOW - 15_000 },
  });
});

it("trips once for failures in the same batch", () => {
  expect(after(lane(), many(failed, 30))).toMatchObject({ openSeconds: 5, lane: { trips: 1, failedInARow: 30 } });
});

it("trips once for concurrent failures that end one after another", () => {
  let state = after(lane(), many(failed, 10)).lane;
  for (let late = 0; late < 50; late += 1) {
    const change = after(state, [failed]);
    expect(change.openSeconds).toBeUndefined();
    state = change.lane;
  }
  expect(state).toMatchObject({ trips: 1, failures: 60 });
});

it("counts failures since the last success, and keeps the last status and outcome", () => {
  expect(after(lane({ failures: 3 }), [failed, failed]).lane).toMatchObject({ failures: 5, lastStatus: 500 });
  expect(after(lane({ failures: 3 }), [failed, accepted]).lane).toMatchObject({ failures: 0, lastStatus: 204, lastOutcome: "accepted" });
  expect(after(lane(), [{ startedAt, kind: "timeout", httpStatus: null, test: false }]).lane).toMatchObject({
    lastStatus: 0,
    lastOutcome: "timeout",
  });
});

it("keeps only the status and outcome of a test delivery", () => {
  for (const test of [
    { startedAt, kind: "refused", httpStatus: 410, test: true },
    { startedAt, kind: "accepted", httpStatus: 200, test: true },
  ] as const) {
    const before = lane({ failedInARow: 9, failures: 9, firstFailureAt: NOW - HOUR });
    expect(after(before, [test])).toEqual({
      lane: { ...before, lastStatus: test.httpStatus, lastOutcome: test.kind },
      openSeconds: undefined,
      disable: undefined,
    });
  }
});

it("disables for one 410, even with a success in the same batch", () => {
  const gone: LaneOutcome = { startedAt, kind: "refused", httpStatus: 410, test: false };
  expect(after(lane(), [gone]).disable).toBe("gone");
  expect(after(lane(), [gone, accepted]).disable).toBe("gone");
});

describe("the five-day failure clock", () => {
  /** Records failures at these hours. Returns the hour at which the clock ran out, if it did. */
  function disabledAt(hours: readonly number[]): number | undefined {
    let clock: FailureClock = { firstFailureAt: null, failingSince: null };
    for (const hour of hours) {
      const change = recordFailure(clock, NOW + hour * HOUR);
      clock = change.clock;
      if (change.hasRunOut) return hour;
    }
    return undefined;
  }

  it("starts with a failure 12 to 24 hours after another, and runs out five days later", () => {
    expect(disabledAt([0, 12, 12 + 119, 12 + 120])).toBe(132);
    expect(disabledAt([0, 24, 144])).toBe(144);
    expect(disabledAt([0, 24, 143.9])).toBeUndefined();
  });

  it("does not start with failures that are closer together or farther apart", () => {
    expect(disabledAt([0, 1, 5, 11.9])).toBeUndefined();
    expect(disabledAt([0, 25, 26, 150, 151, 300])).toBeUndefined();
    expect(disabledAt([0, 25, 38, 38 + 120])).toBe(158);
  });

  it("is stopped by a success", () => {
    const failing = lane({ firstFailureAt: NOW - 200 * HOUR, failingSince: NOW - 130 * HOUR });
    expect(after(failing, [failed]).disable).toBe("failing");
    expect(after(failing, [accepted, failed])).toMatchObject({ disable: undefined, lane: { failingSince: null, firstFailureAt: NOW } });
  });

  it("is stopped by a success in the same batch as the failure at which it ran out, in either order", () => {
    const failing = lane({ failures: 7, failedInARow: 7, firstFailureAt: NOW - 200 * HOUR, failingSince: NOW - 130 * HOUR });
    expect(after(failing, [failed, accepted])).toMatchObject({
      disable: undefined,
      lane: { failures: 0, failedInARow: 0, failingSince: null, firstFailureAt: null, lastStatus: 204 },
    });
    expect(after(failing, [failed, accepted, failed])).toMatchObject({
      disable: undefined,
      lane: { failures: 1, failedInARow: 1, failingSince: null, firstFailureAt: NOW, lastStatus: 500 },
    });
    expect(after(failing, [accepted, failed, failed])).toMatchObject({ disable: undefined, lane: { failures: 2, failingSince: null } });
  });
});
