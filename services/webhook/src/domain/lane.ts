import { recordFailure, type FailureClock } from "./failure-clock.ts";
import type { OutcomeKind } from "./outcome.ts";

/** Attempts of a new lane that may be in flight. */
export const IN_FLIGHT_START = 8;
export const IN_FLIGHT_MAX = 64;
export const BREAKER_FAILURES = 10;
const OPEN_SECONDS_MIN = 5;
const OPEN_SECONDS_MAX = 300;

/** The health of a receiver, as far as sending depends on it. */
export interface LaneState extends FailureClock {
  readonly maxInFlight: number;
  readonly failedInARow: number;
  readonly trips: number;
  /** When the circuit last opened, by the clock of the outcomes; null if it did not since the last success. */
  readonly openedAt: number | null;
  /** Failed attempts since the last success, shown to members. */
  readonly failures: number;
  readonly lastStatus: number | null;
  readonly lastOutcome: OutcomeKind | null;
  /** Owners have got mail of the pause: the next success is worth some, too. */
  readonly pauseNoted: boolean;
}

export interface LaneChange {
  readonly lane: LaneState;
  /** Opens the circuit: nothing is sent for this long. Undefined leaves the circuit as it is. */
  readonly openSeconds: number | undefined;
  /** Why the receiver must be disabled; undefined if it stays enabled. */
  readonly disable: "gone" | "failing" | undefined;
}

export interface LaneOutcome {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly kind: OutcomeKind;
  readonly httpStatus: number | null;
  /** A test delivery changes the last status and outcome; a failed one also restores the rest of a pause, which it ended. */
  readonly test: boolean;
}

const GONE = 410;

/**
 * Returns the state of a lane after these outcomes, given in the order in which they arrived.
 *
 * @param limit attempts in flight that the receiver allows
 * @param now milliseconds since the epoch
 */
export function afterOutcomes(before: LaneState, outcomes: readonly LaneOutcome[], limit: number, now: number): LaneChange {
  const lane = { ...before };
  let openSeconds: number | undefined;
  let disable: LaneChange["disable"];
  for (const { startedAt, kind, httpStatus, test } of outcomes) {
    lane.lastStatus = httpStatus ?? 0;
    lane.lastOutcome = kind;
    if (test) {
      if (kind !== "accepted" && isProbe(lane, startedAt)) openSeconds = restOfPause(lane, now);
      continue;
    }
    // The receiver has no part in it: otherwise a proxy that is away would pause and at last disable every receiver. A probe that the
    // proxy refused decides nothing, and another follows after the same pause.
    if (kind === "proxy_refused") {
      if (!isProbe(lane, startedAt)) continue;
      openSeconds = pauseSeconds(lane.trips);
      lane.openedAt = now;
      continue;
    }
    if (kind === "accepted") {
      const maxInFlight = Math.min(IN_FLIGHT_MAX, limit, lane.maxInFlight + 1);
      Object.assign(lane, {
        maxInFlight,
        failedInARow: 0,
        trips: 0,
        openedAt: null,
        failures: 0,
        firstFailureAt: null,
        failingSince: null,
        pauseNoted: false,
      });
      openSeconds = undefined;
      // A success stops a clock that ran out earlier in this batch. A 410 stands.
      if (disable === "failing") disable = undefined;
      continue;
    }
    const { clock, hasRunOut } = recordFailure(lane, now);
    Object.assign(lane, clock);
    lane.maxInFlight = Math.max(1, Math.floor(Math.min(lane.maxInFlight, limit) / 2));
    lane.failedInARow += 1;
    lane.failures += 1;
    if (httpStatus === GONE) disable = "gone";
    else if (hasRunOut) disable ??= "failing";
    if (!isProbe(lane, startedAt)) continue;
    lane.trips += 1;
    openSeconds = pauseSeconds(lane.trips);
    lane.openedAt = now;
  }
  return { lane, openSeconds, disable };
}

/** Whether the end of an attempt decides about the circuit. Those in flight when it opened are one trial, not many, whenever they end. */
const isProbe = ({ failedInARow, openedAt }: LaneState, startedAt: number): boolean =>
  failedInARow >= BREAKER_FAILURES && startedAt > (openedAt ?? Number.NEGATIVE_INFINITY);

const pauseSeconds = (trips: number): number => Math.min(OPEN_SECONDS_MIN * 2 ** (trips - 1), OPEN_SECONDS_MAX);

/** A pause that a test has ended lasts as long as without it, so that no number of tests holds deliveries back; undefined if it would be over. */
function restOfPause({ trips, openedAt }: LaneState, now: number): number | undefined {
  const seconds = pauseSeconds(trips) - (now - (openedAt ?? Number.NEGATIVE_INFINITY)) / 1_000;
  return seconds > 0 ? seconds : undefined;
}
