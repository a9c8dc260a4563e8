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

const ROUNDS = 4;

/**
 * The numbers below `size` in a shuffled order, in constant memory: a Feistel network, repeated until the result is below
 * `size`. Selects exactly one in ten, seemingly at random, without a list of those selected.
 */
export class Shuffle {
  readonly #size: number;
  readonly #stream: number;
  readonly #halfBits: number;

  constructor(size: number, stream: number) {
    this.#size = size;
    this.#stream = stream;
    this.#halfBits = Math.max(1, Math.ceil(Math.log2(Math.max(2, size)) / 2));
  }

  /** Returns the position of `index` in the shuffled order. */
  rankOf(index: number): number {
    let rank = index;
    do rank = this.#walk(rank, 0, 1);
    while (rank >= this.#size);
    return rank;
  }

  /** The inverse of `rankOf`. */
  indexAt(rank: number): number {
    let index = rank;
    do index = this.#walk(index, ROUNDS - 1, -1);
    while (index >= this.#size);
    return index;
  }

  #walk(value: number, firstRound: number, direction: 1 | -1): number {
    const half = 2 ** this.#halfBits;
    let left = Math.floor(value / half);
    let right = value % half;
    for (let i = 0, round = firstRound; i < ROUNDS; i += 1, round += direction) {
      if (direction === 1) [left, right] = [right, left ^ this.#round(right, round)];
      else [left, right] = [right ^ this.#round(left, round), left];
    }
    return left * half + right;
  }

  #round(value: number, round: number): number {
    return mix32(this.#stream + Math.imul(value, 0x9e3779b9) + round) >>> (32 - this.#halfBits);
  }
}

const bytes = new Uint8Array(10);

/**
 * Returns a TypeID with the time `milliseconds`, the same for the same stream and index.
 *
 * The first draw differs for every index and goes into bytes that the version and the variant of a UUIDv7 leave alone: two
 * indexes of a stream never share an id, though thousands share a millisecond.
 */
export function idAt(prefix: string, milliseconds: number, stream: number, index: number): string {
  const random = new Random(stream, index);
  write(3, random.bits());
  write(6, random.bits());
  const rest = random.bits();
  bytes[0] = rest;
  bytes[1] = rest >>> 8;
  bytes[2] = rest >>> 16;
  return newId(prefix, milliseconds, bytes);
}

function write(at: number, bits: number): void {
  bytes[at] = bits;
  bytes[at + 1] = bits >>> 8;
  bytes[at + 2] = bits >>> 16;
  bytes[at + 3] = bits >>> 24;
}
