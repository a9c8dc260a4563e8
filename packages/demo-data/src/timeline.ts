import { mix32 } from "./random.ts";

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Length of a brand's history, in milliseconds. */
export const HISTORY = 365 * DAY;

const MANILA_OFFSET_HOURS = 8;

/** How busy each hour is in Manila: a lull before dawn, a peak after dinner. */
const HOUR_WEIGHTS = [5, 3, 2, 1, 1, 2, 3, 5, 6, 7, 7, 8, 11, 8, 7, 7, 7, 8, 11, 15, 18, 18, 14, 9];

/** Below 1 the present is denser than the past: brands grow. */
const GROWTH = 0.6;

const BURST_CHANCE = 0.04;
const QUANTILES = 480;

/**
 * The creation times of a resource's items: ascending, denser towards `now`, with days and nights, and with bursts that share
 * a millisecond, as a platform's batch jobs leave them. Large sets have at least one burst, and bursts of 250 (more than the
 * largest page).
 */
export class Timeline {
  readonly #count: number;
  readonly #stream: number;
  readonly #now: number;
  readonly #burstLength: number;
  readonly #quantiles: Float64Array;

  /** @param now milliseconds since the epoch */
  constructor(count: number, stream: number, now: number) {
    this.#count = count;
    this.#stream = stream;
    this.#now = now;
    this.#burstLength = count >= 1_500 ? 250 : count >= 100 ? 10 : 3;
    this.#quantiles = dayQuantiles(now);
  }

  /** Returns the time of the item at `index`, in milliseconds since the epoch. */
  at(index: number): number {
    const block = Math.floor(index / this.#burstLength);
    const from = this.#isBurst(block) ? block * this.#burstLength : index;
    const position = (from + mix32(this.#stream ^ from) / 0x1_0000_0000) / this.#count;
    return Math.floor(this.#dayAndNight(this.#now - HISTORY * (1 - position ** GROWTH)));
  }

  /** Counts the items created at `time` or before. */
  countUntil(time: number): number {
    return countWhile(this.#count, (index) => this.at(index) <= time);
  }

  #isBurst(block: number): boolean {
    if (block === Math.floor(this.#count / this.#burstLength / 2)) return true;
    return mix32(this.#stream + block) / 0x1_0000_0000 < BURST_CHANCE;
  }

  /** Moves a time within its 24 hours, counted back from now, so no time is in the future. */
  #dayAndNight(time: number): number {
    const back = (this.#now - time) / DAY;
    const days = Math.floor(back);
    const at = (1 - (back - days)) * QUANTILES;
    const below = Math.min(Math.floor(at), QUANTILES - 1);
    const low = this.#quantiles[below] ?? 0;
    const high = this.#quantiles[below + 1] ?? 1;
    return this.#now - (days + 1 - (low + (high - low) * (at - below))) * DAY;
  }
}

/** Maps each share of a day's items to the share of the day by which they are created. The day ends at `now`. */
function dayQuantiles(now: number): Float64Array {
  const hourNow = Math.floor(now / HOUR + MANILA_OFFSET_HOURS) % 24;
  const weights = HOUR_WEIGHTS.map((_, i) => HOUR_WEIGHTS[(hourNow + i) % 24] ?? 1);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const quantiles = new Float64Array(QUANTILES + 1);
  let hour = 0;
  let before = 0;
  for (let i = 0; i <= QUANTILES; i += 1) {
    const target = (i / QUANTILES) * total;
    while (hour < 23 && before + (weights[hour] ?? 1) < target) {
      before += weights[hour] ?? 1;
      hour += 1;
    }
    quantiles[i] = (hour + (target - before) / (weights[hour] ?? 1)) / 24;
  }
  return quantiles;
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
