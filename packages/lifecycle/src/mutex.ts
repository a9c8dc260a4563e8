/** Runs work one after another, in the order of the calls. A failure reaches its own caller and delays nothing else. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();
  #pending = 0;

  run<T>(work: () => Promise<T>): Promise<T> {
    this.#pending += 1;
    const result = this.#last.then(work);
    const leave = (): void => void (this.#pending -= 1);
    this.#last = result.then(leave, leave);
    return result;
  }

  get isIdle(): boolean {
    return this.#pending === 0;
  }

  /** Resolves when all work passed to `run` before this call is done. */
  async drain(): Promise<void> {
    await this.#last;
  }
}

/** A mutex for each key: work with the same key runs one after another, work with different keys concurrently. */
export class KeyedMutex {
  readonly #mutexes = new Map<string, Mutex>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const mutex = this.#mutexes.get(key) ?? new Mutex();
    this.#mutexes.set(key, mutex);
    try {
      return await mutex.run(work);
    } finally {
      if (mutex.isIdle) this.#mutexes.delete(key);
    }
  }

  /** Keys with work running or waiting. */
  get size(): number {
    return this.#mutexes.size;
  }
}
