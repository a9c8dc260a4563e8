import { mix32 } from "./random.ts";

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
