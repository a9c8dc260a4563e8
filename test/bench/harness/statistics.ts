/** @param sorted ascending, not empty */
export function quantile(sorted: ArrayLike<number>, q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = quantile(sorted, 0.5);
  const median = Number.isInteger(middle) ? ((sorted[middle - 1] ?? upper) + upper) / 2 : upper;
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}

export interface Ratio extends Spread {
  /** The ratio of each round, in order. */
  readonly rounds: readonly number[];
  readonly at_most?: number;
}

export function ratioOf(rounds: readonly number[]): Ratio {
  return { ...spreadOf(rounds), rounds };
}

export interface MedianInterval {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Returns the median with its interval of at least 95% confidence, between two of the values: the median of the population lies outside
 * only if a fair coin falls too often on one side. Assumes nothing about the distribution. Of 12 values it is the third to the tenth
 * (96.1%); of fewer than 6 the smallest to the largest, with less confidence.
 */
export function medianInterval(values: readonly number[]): MedianInterval {
  const sorted = values.toSorted((a, b) => a - b);
  const { length } = sorted;
  let outside = 0;
  /** The probability of exactly `rank` heads in as many tosses as there are values. */
  let probability = 0.5 ** length;
  let cut = 0;
  for (let rank = 0; outside + probability <= 0.025; rank += 1) {
    outside += probability;
    cut = rank;
    probability *= (length - rank) / (rank + 1);
  }
  return { median: spreadOf(sorted).median, low: sorted[cut] ?? Number.NaN, high: sorted[length - 1 - cut] ?? Number.NaN };
}

export const sumOf = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
