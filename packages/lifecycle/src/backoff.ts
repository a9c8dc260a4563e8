/** Pauses between attempts that fail: each is twice as long as the one before, up to a limit. */
export class Backoff {
  readonly #minMs: number;
  readonly #maxMs: number;
  #nextMs: number;

  constructor(minMs: number, maxMs: number) {
    this.#minMs = minMs;
    this.#maxMs = maxMs;
    this.#nextMs = minMs;
  }

  /** Returns the milliseconds to pause now. */
  next(): number {
    const ms = this.#nextMs;
    this.#nextMs = Math.min(ms * 2, this.#maxMs);
    return ms;
  }

  /** Makes the next pause the shortest again. Call it after a success. */
  reset(): void {
    this.#nextMs = this.#minMs;
  }
}

/**
 * Full jitter: shortens a pause to a random part of itself, so that processes which failed together do not try again together.
 *
 * @param random 0 to 1
 */
export const withFullJitter = (ms: number, random = Math.random()): number => ms * random;
