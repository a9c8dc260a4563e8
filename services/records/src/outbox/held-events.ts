/** What holds a record's events back: a partition of the log, by its number, or an event that is too large, by its record. */
export type Holder = number | string;

interface HeldRecord {
  readonly holder: Holder;
  /** In the order of changes. */
  readonly seqs: Set<number>;
}

interface Queue {
  readonly records: Set<string>;
  retryAt: number;
}

/** An event in the outbox. */
export interface HeldEvent {
  readonly record: string;
  readonly seq: number;
}

/**
 * The events that were read and that the log does not take at the moment. A record that has one is held with all its later events, which
 * keeps their order; all others go on. Nothing is read twice to find what is behind them, because their numbers are remembered.
 */
export class HeldEvents {
  readonly #records = new Map<string, HeldRecord>();
  readonly #queues = new Map<Holder, Queue>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Events that are too large. */
  get tooLarge(): number {
    let count = 0;
    for (const holder of this.#queues.keys()) if (typeof holder === "string") count += 1;
    return count;
  }

  /** Holds a new event back if its record is held. Returns whether it is. */
  holdBehind({ record, seq }: HeldEvent): boolean {
    const held = this.#records.get(record);
    if (held === undefined) return false;
    this.#add(held, seq);
    return true;
  }

  /** Holds an event, new or held, whose record is held from now on by this holder until it is tried again. */
  hold({ record, seq }: HeldEvent, holder: Holder, retryAt: number): void {
    const before = this.#records.get(record);
    if (before !== undefined && before.holder !== holder) this.#leave(record, before);
    const held = before?.holder === holder ? before : { holder, seqs: before?.seqs ?? new Set<number>() };
    const queue = this.#queues.get(holder) ?? { records: new Set(), retryAt };
    this.#records.set(record, held);
    this.#queues.set(holder, queue);
    queue.records.add(record);
    queue.retryAt = retryAt;
    this.#add(held, seq);
  }

  /** Forgets an event that is in the log, or has left the outbox otherwise. */
  release({ record, seq }: HeldEvent): void {
    const held = this.#records.get(record);
    if (held === undefined || !held.seqs.delete(seq)) return;
    this.#size -= 1;
    if (held.seqs.size > 0) return;
    this.#records.delete(record);
    this.#leave(record, held);
  }

  /** Returns the first events of each holder that is to be tried now, of each record from its first on; a fair share of `limit` each. */
  due(now: number, limit: number): HeldEvent[] {
    const queues = [...this.#queues.values()].filter(({ retryAt }) => retryAt <= now).slice(0, limit);
    const share = Math.floor(limit / Math.max(1, queues.length));
    return queues.flatMap((queue) => [...this.#eventsOf(queue, share)]);
  }

  /** Returns the milliseconds until the next is to be tried; Infinity if nothing is held. */
  dueInMs(now: number): number {
    let next = Infinity;
    for (const { retryAt } of this.#queues.values()) next = Math.min(next, retryAt);
    return Math.max(0, next - now);
  }

  *#eventsOf({ records }: Queue, limit: number): Generator<HeldEvent> {
    let left = limit;
    for (const record of records) {
      for (const seq of this.#records.get(record)?.seqs ?? []) {
        if (left === 0) return;
        left -= 1;
        yield { record, seq };
      }
    }
  }

  #add({ seqs }: HeldRecord, seq: number): void {
    if (!seqs.has(seq)) this.#size += 1;
    seqs.add(seq);
  }

  #leave(record: string, { holder }: HeldRecord): void {
    const queue = this.#queues.get(holder);
    queue?.records.delete(record);
    if (queue?.records.size === 0) this.#queues.delete(holder);
  }
}
