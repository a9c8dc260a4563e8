import { noteOnClock, type FailureClock } from "./failure-clock.ts";

export const IN_FLIGHT_START = 8;
export const IN_FLIGHT_MAX = 64;
/** So many failures in a row, and nothing but probes is sent. */
export const BREAKER_FAILURES = 10;
const PARK_SECONDS_MIN = 5;
const PARK_SECONDS_MAX = 300;

/** How a receiver does, as far as sending to it depends on it. */
export interface LaneState extends FailureClock {
  /** Attempts that may be under way at once. */
  readonly maxInFlight: number;
  readonly failedInARow: number;
  readonly parkings: number;
  /** Milliseconds since the epoch; null if it was not since the last success. */
  readonly parkedAt: number | null;
  /** Failed attempts since the last success, for people. */
  readonly failures: number;
  /** HTTP status of the last attempt, 0 if there was no answer. */
  readonly lastStatus: number | null;
}

export interface LaneChange {
  readonly lane: LaneState;
  /** Nothing is sent for so long; absent if it goes on. */
  readonly parkSeconds: number | undefined;
  /** Why its receiver is to be disabled; absent if it is not. */
  readonly disable: "gone" | "failing" | undefined;
}

export interface LaneOutcome {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly accepted: boolean;
  readonly httpStatus: number | null;
  /** A test delivery shows in the last status and counts for nothing else. */
  readonly test: boolean;
}

const GONE = 410;

/**
 * What a lane is after these outcomes, in the order in which they came.
 *
 * @param limit of attempts at once that its receiver has set
 * @param now milliseconds since the epoch
 */
export function afterOutcomes(before: LaneState, outcomes: readonly LaneOutcome[], limit: number, now: number): LaneChange {
  const lane = { ...before };
  let parkSeconds: number | undefined;
  let disable: LaneChange["disable"];
  for (const { startedAt, accepted, httpStatus, test } of outcomes) {
    lane.lastStatus = httpStatus ?? 0;
    if (test) continue;
    if (accepted) {
      const maxInFlight = Math.min(IN_FLIGHT_MAX, limit, lane.maxInFlight + 1);
      Object.assign(lane, {
        maxInFlight,
        failedInARow: 0,
        parkings: 0,
        parkedAt: null,
        failures: 0,
        firstFailureAt: null,
        failingSince: null,
      });
      parkSeconds = undefined;
      // The clock that ran out earlier in this batch is stopped after all. A 410 stands.
      if (disable === "failing") disable = undefined;
      continue;
    }
    const { clock, over } = noteOnClock(lane, now);
    Object.assign(lane, clock);
    lane.maxInFlight = Math.max(1, Math.floor(Math.min(lane.maxInFlight, limit) / 2));
    lane.failedInARow += 1;
    lane.failures += 1;
    if (httpStatus === GONE) disable = "gone";
    else if (over) disable ??= "failing";
    // Those that were under way together with the one that parked it are one trial, not many, whenever they end.
    if (lane.failedInARow < BREAKER_FAILURES || startedAt <= (lane.parkedAt ?? Number.NEGATIVE_INFINITY)) continue;
    parkSeconds = Math.min(PARK_SECONDS_MIN * 2 ** lane.parkings, PARK_SECONDS_MAX);
    lane.parkings += 1;
    lane.parkedAt = now;
  }
  return { lane, parkSeconds, disable };
}
