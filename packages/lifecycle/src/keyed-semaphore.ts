import { TIMED_OUT, withTimeout } from "./with-timeout.ts";

/** Work was not begun: too many wait for room already, or none was free in time. */
export class NoRoomError extends Error {
  override readonly name = "NoRoomError";
  /** The key's own work takes all the room that it may have: others are served. */
  readonly isOfKey: boolean;

  constructor(message: string, isOfKey: boolean) {
    super(message);
    this.isOfKey = isOfKey;
  }
}

export interface SemaphoreBounds {
  /** Work that runs at a time with one key. */
  perKey(key: string): number;
  /** Work that runs at a time in all. */
  readonly total: number;
  /** Callers that wait at a time with one key. */
  readonly waitingPerKey: number;
  /** Callers that wait at a time in all. */
  readonly waitingTotal: number;
  /** Milliseconds that a caller waits. Default: as long as the work before it takes. */
  readonly waitMs?: number;
}

interface Waiter {
  start(): void;
}

interface Queue {
  running: number;
  readonly waiting: Set<Waiter>;
}

/**
 * Bounds how much work runs at a time: with one key, and in all. Callers of one key wait in their order, and keys take turns: one with all
 * of its work running lets the others pass.
 */
export class KeyedSemaphore {
  readonly #bounds: SemaphoreBounds;
  readonly #queues = new Map<string, Queue>();
  #running = 0;
  #waiting = 0;

  constructor(bounds: SemaphoreBounds) {
    this.#bounds = bounds;
  }

  /**
   * Runs `work` as soon as there is room.
   *
   * @throws NoRoomError, and what `work` throws
   */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(key) ?? { running: 0, waiting: new Set() };
    this.#queues.set(key, queue);
    try {
      if (queue.waiting.size === 0 && this.#hasRoom(key, queue)) this.#start(queue);
      else await this.#wait(key, queue);
      try {
        return await work();
      } finally {
        queue.running -= 1;
        this.#running -= 1;
        this.#startWaiting();
      }
    } finally {
      // Callers choose keys: none may stay, also not that of a refusal.
      const isEmpty = queue.running === 0 && queue.waiting.size === 0;
      // The key may have another queue since this one was empty.
      if (isEmpty && this.#queues.get(key) === queue) this.#queues.delete(key);
    }
  }

  /** Keys with work running or waiting. */
  get size(): number {
    return this.#queues.size;
  }

  #hasRoom(key: string, { running }: Queue): boolean {
    return this.#running < this.#bounds.total && running < this.#bounds.perKey(key);
  }

  #start(queue: Queue): void {
    queue.running += 1;
    this.#running += 1;
  }

  async #wait(key: string, { running, waiting }: Queue): Promise<void> {
    const { perKey, waitingPerKey, waitingTotal, waitMs } = this.#bounds;
    const isOfKey = running >= perKey(key) || waiting.size >= waitingPerKey;
    if (waiting.size >= waitingPerKey || this.#waiting >= waitingTotal) throw new NoRoomError("too many wait already", isOfKey);
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter = { start: resolve };
    waiting.add(waiter);
    this.#waiting += 1;
    if (waitMs === undefined) return promise;
    const outcome = await withTimeout(promise, waitMs);
    // The caller's turn may have come in the same moment.
    if (outcome === TIMED_OUT && waiting.delete(waiter)) {
      this.#waiting -= 1;
      throw new NoRoomError(`there was no room for ${waitMs} ms`, isOfKey);
    }
  }

  /** A key that gets a turn goes behind the others, where this loop meets it again: it ends with the room, or with those who wait. */
  #startWaiting(): void {
    for (const [key, queue] of this.#queues) {
      if (this.#running >= this.#bounds.total) return;
      const [next] = queue.waiting;
      if (next === undefined || !this.#hasRoom(key, queue)) continue;
      queue.waiting.delete(next);
      this.#waiting -= 1;
      this.#start(queue);
      next.start();
      this.#queues.delete(key);
      this.#queues.set(key, queue);
    }
  }
}
