const CAPACITY_MIN = 4 * 1024;

/**
 * Collects chunks in one buffer that doubles: stored separately, chunks of one byte would take about 200 bytes each. A single
 * chunk is not copied.
 */
export class GrowingBuffer {
  readonly #bytesMax: number;
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** @param reserve called with the number of bytes before they are allocated; if it throws, the buffer does not change */
  append(chunk: Buffer, reserve: (bytes: number) => void): void {
    const length = this.#length + chunk.length;
    if (this.#length === 0) {
      reserve(chunk.length);
      this.#bytes = chunk;
    } else {
      if (length > this.#bytes.length) this.#grow(length, reserve);
      chunk.copy(this.#bytes, this.#length);
    }
    this.#length = length;
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(length: number, reserve: (bytes: number) => void): void {
    const capacity = Math.max(Math.min(Math.max(CAPACITY_MIN, 2 * this.#bytes.length), this.#bytesMax), length);
    reserve(capacity - this.#bytes.length);
    const grown = Buffer.allocUnsafeSlow(capacity);
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
