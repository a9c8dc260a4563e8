import { newId } from "@brand-records/ids";

/** A bijection of 32 bits that looks random: distinct values stay distinct. */
export function mix32(value: number): number {
  let x = value;
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return (x ^ (x >>> 15)) >>> 0;
}

/** Hashes a text to the number of a random stream. */
export function streamOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return mix32(hash);
}

const STEP = 0x9e3779b9;

/**
 * Repeatable random numbers: the draws for item `index` of a stream are always the same, whichever items were drawn before.
 * So a record can be made again without those before it. Not for secrets.
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

  /** A number from 0, below 1. */
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

  /** @param weights in the order of `items`, with any sum */
  pickWeighted<T>(items: readonly T[], weights: readonly number[]): T {
    let left = this.unit() * weights.reduce((sum, weight) => sum + weight, 0);
    for (let i = 0; i < items.length; i += 1) {
      left -= weights[i] ?? 0;
      if (left < 0) return items[i] as T;
    }
    return items.at(-1) as T;
  }

  /** Pareto distribution from `least`, cut at `most`: few are huge. The smaller `alpha`, the heavier the tail. */
  pareto(least: number, alpha: number, most: number): number {
    return Math.min(most, least * (1 - this.unit()) ** (-1 / alpha));
  }

  /** Log-normal distribution: half below `median`, with a long tail above, as of order values. */
  logNormal(median: number, sigma: number): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.unit()));
    return median * Math.exp(sigma * radius * Math.cos(2 * Math.PI * this.unit()));
  }
}

/**
 * Returns a TypeID with the time `milliseconds`, the same for the same stream and index.
 *
 * The first draw differs for every index and goes into bytes that the version and the variant of a UUIDv7 leave alone: two
 * indexes of a stream never share an id, though thousands share a millisecond.
 */
export function idAt(prefix: string, milliseconds: number, stream: number, index: number): string {
  const random = new Random(stream, index);
  const bytes = Buffer.alloc(10);
  bytes.writeUInt32LE(random.bits(), 3);
  bytes.writeUIntLE(random.below(2 ** 24), 7, 3);
  bytes.writeUIntLE(random.below(2 ** 24), 0, 3);
  return newId(prefix, milliseconds, bytes);
}
