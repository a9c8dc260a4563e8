interface Flight<T> {
  current: Promise<T>;
  next: Promise<T> | undefined;
}

/**
 * Shares work between concurrent callers of the same key, but only work that starts after the call: its result reflects
 * everything that happened before the call. A key has at most two flights: one in progress and one waiting for it.
 */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();

  /** Keys with work in progress. */
  get size(): number {
    return this.#flights.size;
  }

  /** Whether `run` would wait for the work in progress instead of starting work immediately. */
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
