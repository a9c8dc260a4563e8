import { withTimeout } from "@brand-records/lifecycle";
import type { GiveBack, Pacer } from "../use-cases/store-events.ts";
import { CROWDED_PART, SlowReceivers, type Allowance } from "./slow-receivers.ts";

/** The part of attempts in flight that failing receivers may occupy, however many hang. */
const FAILING_PART = 0.5;
/** An attempt in flight for longer may be to a receiver that hangs. */
const SOON_MS = 250;
/** The part of such attempts up to which it is worth waiting for the others. */
const OLD_PART = 0.25;
/** The weight of the last batch in the mean of deliveries an event. */
const LAST_BATCH_WEIGHT = 0.25;

/** Takes room for attempts to a receiver. @returns for how many, at most `wanted` */
export type Take = (receiverId: string, wanted: number) => number;

export interface Occupied {
  /** Call it when the attempt has ended. */
  attempted(): void;
  /** Call it when its result is written: only then the next may start. */
  leave(): void;
}

/** The attempts that this process may have in flight, and who has them. */
export class Room implements Pacer {
  readonly #max: number;
  readonly #slow: SlowReceivers;
  readonly #stopping: AbortSignal;
  /** Deliveries whose attempt has started and whose result is not written yet. */
  #inFlight = 0;
  /** Those among them to receivers whose last attempt failed. */
  #failing = 0;
  /** Taken for attempts whose leases are not committed yet, by intake or by a claim. */
  #reserved = 0;
  /** Kept free for batches of intake that have not taken theirs yet. */
  #promised = 0;
  /** Mean deliveries of the last events, at least one: what a batch of events takes up. */
  #perEvent = 1;
  /** Resolved when an attempt ends, if intake waits for that. */
  #ended: PromiseWithResolvers<void> | undefined;

  constructor(max: number, stopping: AbortSignal) {
    this.#max = max;
    this.#slow = new SlowReceivers(max);
    this.#stopping = stopping;
  }

  get left(): number {
    return this.#max - this.#inFlight - this.#reserved;
  }

  /** Whether a receiver whose last attempt failed may have another in flight. */
  get servesFailing(): boolean {
    return this.#failing < this.#max * FAILING_PART;
  }

  occupy({ receiver_id, failing }: { readonly receiver_id: string; readonly failing: boolean }): Occupied {
    this.#inFlight += 1;
    if (failing) this.#failing += 1;
    const tracked = this.#slow.start(receiver_id, performance.now());
    return {
      attempted: () => this.#slow.end(tracked, performance.now()),
      leave: () => {
        this.#inFlight -= 1;
        if (failing) this.#failing -= 1;
        this.#resolveEnded();
      },
    };
  }

  /** Room for a claim, which takes it try by try. */
  forClaim(): ClaimRoom {
    return new ClaimRoom(this);
  }

  /** Takes room for the first attempts of one transaction. Give back all of it with `release`. */
  forFirstAttempts(): Take {
    if (this.#stopping.aborted) return () => 0;
    const allowance = this.allowance();
    let left = allowance.max;
    return (receiverId, wanted) => {
      const taken = this.reserve(allowance, receiverId, Math.min(wanted, left));
      left -= taken;
      return taken;
    };
  }

  /** What may start now. Looks at every receiver that is known. */
  allowance(): Allowance {
    return this.#slow.allowance(this.left, performance.now());
  }

  /** Takes room for a receiver, until `release`. The allowance may be older than what others took: no more than is left now is taken. */
  reserve(allowance: Allowance, receiverId: string, wanted: number): number {
    const taken = allowance.take(receiverId, Math.min(wanted, Math.max(0, this.left)));
    this.#reserved += taken;
    return taken;
  }

  release(reserved: number): void {
    this.#reserved -= reserved;
  }

  get eventsMax(): number {
    return Math.max(1, Math.floor(this.#intakeMax / this.#perEvent));
  }

  /** Attempts that one batch of intake waits room for at most: one event may have more deliveries than there is room. */
  get #intakeMax(): number {
    return (this.#max * CROWDED_PART) / 2;
  }

  async untilRoom(events: number, until: number): Promise<GiveBack> {
    const wanted = Math.min(events * this.#perEvent, this.#intakeMax);
    for (let now = performance.now(); !this.#has(wanted) && now < until && this.#endsSoon(now); now = performance.now()) {
      this.#ended ??= Promise.withResolvers<void>();
      await withTimeout(this.#ended.promise, until - now);
    }
    this.#promised += wanted;
    return (deliveries) => {
      this.#promised -= wanted;
      if (deliveries !== undefined) {
        this.#perEvent = Math.max(1, this.#perEvent + (deliveries / events - this.#perEvent) * LAST_BATCH_WEIGHT);
      }
      this.#resolveEnded();
    };
  }

  #has(wanted: number): boolean {
    if (this.#stopping.aborted) return true;
    return this.#inFlight + this.#reserved + this.#promised + wanted <= this.#max * CROWDED_PART;
  }

  /** Whether few attempts have been in flight for long. */
  #endsSoon(now: number): boolean {
    return this.#slow.countOlder(SOON_MS, now) <= (this.#inFlight + this.#promised) * OLD_PART;
  }

  #resolveEnded(): void {
    this.#ended?.resolve();
    this.#ended = undefined;
  }
}

/** The room of one claim. What a try takes is reserved until the next try, because the one before was given up, or until `end`. */
export class ClaimRoom {
  readonly max: number;
  readonly #room: Room;
  #allowance: Allowance;
  #taken = 0;

  constructor(room: Room) {
    this.#room = room;
    this.#allowance = room.allowance();
    this.max = this.#allowance.max;
  }

  exceptIds(): string[] {
    return this.#allowance.exceptIds();
  }

  take(receiverId: string, wanted: number): number {
    const taken = this.#room.reserve(this.#allowance, receiverId, wanted);
    this.#taken += taken;
    return taken;
  }

  retry(): void {
    this.end();
    this.#allowance = this.#room.allowance();
  }

  end(): void {
    this.#room.release(this.#taken);
    this.#taken = 0;
  }
}
