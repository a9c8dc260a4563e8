/**
 * Lets work of the same key run one after another, in the order in which it came, and work of different keys at once.
 * Requests of one brand then take one database connection at a time, and none of another brand waits behind them.
 */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#last.set(key, mine);
    const leave = (): void => {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    };
    mine.then(leave, leave);
    return mine;
  }

  /** Keys with work under way. */
  get size(): number {
    return this.#last.size;
  }
}
