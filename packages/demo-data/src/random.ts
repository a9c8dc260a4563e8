/** A bijection of 32 bits that looks like chance: what goes in distinct comes out distinct. */
export function mix32(value: number): number {
  let x = value;
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return (x ^ (x >>> 15)) >>> 0;
}

/** The number of a stream of chance: another for every text. */
export function streamOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return mix32(hash);
}

const STEP = 0x9e3779b9;

/**
 * Chance that can be repeated: the draws for item `index` of a stream are always the same, whichever items were drawn
 * before. That is what lets a record be made again, alone, without those ahead of it. Not for secrets.
 */
export class Random {
  #state: number;

  constructor(stream: number, index: number) {
    this.#state = mix32(stream + Math.imul(index, STEP));
  }

  /** 0 to 2^32 - 1. The first draw differs for every index of a stream. */
  bits(): number {
    this.#state = (this.#state + STEP) | 0;
    return mix32(this.#state);
  }

  /** From 0, below 1. */
  unit(): number {
    return this.bits() / 0x1_0000_0000;
  }

  /** A whole number from 0, below `limit`. */
  below(limit: number): number {
    return Math.floor(this.unit() * limit);
  }

  /** A whole number, both bounds included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  /** `weights` in the order of `items`; they need not add up to anything. */
  pickWeighted<T>(items: readonly T[], weights: readonly number[]): T {
    let left = this.unit() * weights.reduce((sum, weight) => sum + weight, 0);
    for (let i = 0; i < items.length; i += 1) {
      left -= weights[i] ?? 0;
      if (left < 0) return items[i] as T;
    }
    return items.at(-1) as T;
  }

  /** Few are huge: Pareto from `least` on, the heavier the smaller `alpha`, cut at `most`. */
  pareto(least: number, alpha: number, most: number): number {
    return Math.min(most, least * (1 - this.unit()) ** (-1 / alpha));
  }

  /** Half below `median`, with a long tail above: what order values look like. */
  logNormal(median: number, sigma: number): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.unit()));
    return median * Math.exp(sigma * radius * Math.cos(2 * Math.PI * this.unit()));
  }
}
