import { mix32 } from "./random.ts";

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Length of a brand's history, in milliseconds. */
export const HISTORY = 365 * DAY;

/** Below 1 the present is denser than the past: brands grow. */
const GROWTH = 0.6;

const BURST_CHANCE = 0.04;

/**
 * The creation times of a resource's items, by index, in milliseconds since the epoch: ascending, denser towards `now`,
 * with bursts that share a millisecond, as a platform's batch jobs leave them. Large sets have at least one burst, and bursts
 * of 250 (more than the largest page).
 */
export function timeline(count: number, stream: number, now: number): (index: number) => number {
  const burstLength = count >= 1_500 ? 250 : count >= 100 ? 10 : 3;
  const middle = Math.floor(count / burstLength / 2);
  return (index) => {
    const block = Math.floor(index / burstLength);
    const isBurst = block === middle || share(stream + block) < BURST_CHANCE;
    const from = isBurst ? block * burstLength : index;
    const position = (from + share(stream ^ from)) / count;
    return Math.floor(now - HISTORY * (1 - position ** GROWTH));
  };
}

const share = (value: number): number => mix32(value) / 0x1_0000_0000;

const MANILA_OFFSET = 8 * HOUR;

/** Returns the last midnight in Manila, at `time` or before. */
export function startOfDay(time: number): number {
  return Math.floor((time + MANILA_OFFSET) / DAY) * DAY - MANILA_OFFSET;
}

const WEEK = 7 * DAY;
/** Friday, 2 January 1970, ten in the morning in Manila. */
const FIRST_PAYDAY = DAY + 2 * HOUR;

/** Returns the first payday at `time` or later: payouts are made on Fridays at ten in Manila. */
export function paydayFrom(time: number): number {
  return FIRST_PAYDAY + Math.ceil((time - FIRST_PAYDAY) / WEEK) * WEEK;
}

/** Counts the first numbers below `length` for which `holds` returns true; from one for which it does not, it never does again. */
export function countWhile(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
