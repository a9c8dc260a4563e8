interface Flight<T> {
  current: Promise<T>;
  next: Promise<T> | undefined;
}

/**
 * Joins callers who ask for the same thing at the same time, but only to work that begins after they asked: whatever
 * had happened before a caller came is seen by the answer it gets. At most two flights of a key exist: one under way
 * and one waiting for it.
 */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();

  /** Keys with work under way. */
  get size(): number {
    return this.#flights.size;
  }

  /** Whether `run` would join, and start no work beside what is under way. */
  has(key: string): boolean {
    return this.#flights.has(key);
  }

  run(key: string, work: () => Promise<T>): Promise<T> {
    const flight = this.#flights.get(key);
    if (flight === undefined) return this.#start(key, work);
    flight.next ??= flight.current.then(
      () => this.#start(key, work),
      () => this.#start(key, work),
    );
    return flight.next;
  }

  #start(key: string, work: () => Promise<T>): Promise<T> {
    const flight: Flight<T> = { current: work(), next: undefined };
    this.#flights.set(key, flight);
    const finish = (): void => {
      // Registered before any `next`, so a waiting flight replaces this one right after.
      if (flight.next === undefined && this.#flights.get(key) === flight) this.#flights.delete(key);
    };
    flight.current.then(finish, finish);
    return flight.current;
  }
}
