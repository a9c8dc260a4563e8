import { withTimeout } from "@brand-records/lifecycle";
import type { GiveBack, Pacer } from "../use-cases/store-events.ts";
import { CROWDED_SHARE, SlowReceivers, type Shares } from "./slow-receivers.ts";

/** The share of attempts in flight that failing receivers may occupy, however many hang. */
const FAILING_SHARE = 0.5;
/** An attempt in flight for longer may be to a receiver that hangs. */
const SOON_MS = 250;
/** The share of such attempts up to which it is worth waiting for the others. */
const OLD_SHARE = 0.25;
/** The part that the last batch has in the mean of deliveries an event. */
const LAST_BATCH_PART = 0.25;

/** Takes room for attempts to a receiver. @returns for how many, at most `wanted` */
export type Take = (receiverId: string, wanted: number) => number;

/** An attempt in flight. */
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
    return this.#failing < this.#max * FAILING_SHARE;
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

  /** What a claim may take. What its tries take counts as reserved until `end`, and what a try took that was given up is free again. */
  forClaim(): { readonly max: number; exceptIds(): string[]; takes(): { take: Take }; end(): void } {
    const shares = this.#shares();
    let fresh: Shares | undefined = shares;
    let reserved = 0;
    const end = (): void => {
      this.#reserved -= reserved;
      reserved = 0;
    };
    const takes = (): { take: Take } => {
      end();
      const take = this.#takeOf(fresh ?? this.#shares());
      fresh = undefined;
      return { take: (receiverId, wanted) => countTo((taken) => (reserved += taken), take(receiverId, wanted)) };
    };
    return { max: shares.max, exceptIds: () => shares.exceptIds(), takes, end };
  }

  /** Takes room for the first attempts of one transaction. Give back all of it with `release`. */
  forFirstAttempts(): Take {
    if (this.#stopping.aborted) return () => 0;
    const shares = this.#shares();
    const take = this.#takeOf(shares);
    let { max } = shares;
    return (receiverId, wanted) => countTo((taken) => (max -= taken), take(receiverId, Math.min(wanted, max)));
  }

  release(reserved: number): void {
    this.#reserved -= reserved;
  }

  get eventsMax(): number {
    return Math.max(1, Math.floor(this.#intakeShare / this.#perEvent));
  }

  /** Attempts that one batch of intake waits room for at most: one event may have more deliveries than there is room. */
  get #intakeShare(): number {
    return (this.#max * CROWDED_SHARE) / 2;
  }

  async untilRoom(events: number, until: number): Promise<GiveBack> {
    const wanted = Math.min(events * this.#perEvent, this.#intakeShare);
    for (let now = performance.now(); !this.#has(wanted) && now < until && this.#endsSoon(now); now = performance.now()) {
      this.#ended ??= Promise.withResolvers<void>();
      await withTimeout(this.#ended.promise, until - now);
    }
    this.#promised += wanted;
    return (deliveries) => {
      this.#promised -= wanted;
      if (deliveries !== undefined) {
        this.#perEvent = Math.max(1, this.#perEvent + (deliveries / events - this.#perEvent) * LAST_BATCH_PART);
      }
      this.#resolveEnded();
    };
  }

  /** What may start now. Looks at every receiver that is known. */
  #shares(): Shares {
    return this.#slow.shares(this.left, performance.now());
  }

  /** Counts what it takes as reserved. The shares may be of a moment before others took theirs: it takes no more than is left now. */
  #takeOf(shares: Shares): Take {
    return (receiverId, wanted) =>
      countTo((taken) => (this.#reserved += taken), shares.take(receiverId, Math.min(wanted, Math.max(0, this.left))));
  }

  #has(wanted: number): boolean {
    if (this.#stopping.aborted) return true;
    return this.#inFlight + this.#reserved + this.#promised + wanted <= this.#max * CROWDED_SHARE;
  }

  /** Whether few attempts have been in flight for long. */
  #endsSoon(now: number): boolean {
    return this.#slow.countOlder(SOON_MS, now) <= (this.#inFlight + this.#promised) * OLD_SHARE;
  }

  #resolveEnded(): void {
    this.#ended?.resolve();
    this.#ended = undefined;
  }
}

function countTo(count: (taken: number) => void, taken: number): number {
  count(taken);
  return taken;
}
