import type { Stoppable } from "./lifecycle.ts";
import { repeat } from "./repeat.ts";

const EVERY_MS = 5_000;

/** Tells the time, in whole milliseconds since 1970. */
export interface Clock {
  now(): number;
}

/** The clocks of this machine, in milliseconds. */
interface MachineClocks {
  /** Since 1970, as far as it knows. */
  now(): number;
  /** Since the process began. It is monotonic. */
  elapsed(): number;
}

const THIS_MACHINE: MachineClocks = { now: () => Date.now(), elapsed: () => performance.now() };

/**
 * The time by a clock that all processes share: the database's. That of each machine may be off, and may be set at any time. What is
 * signed or judged by time goes by this one: a webhook process ten minutes ahead signed half of its first attempts outside the five
 * minutes that receivers allow.
 */
export class SharedClock implements Clock {
  readonly #read: () => Promise<number>;
  readonly #machine: MachineClocks;
  readonly #measuring: Stoppable;
  /** What the shared clock showed when the process began. Undefined: not known yet. */
  #zero: number | undefined;
  /** Half the round trip of the measurement that `#zero` is from. */
  #uncertaintyMs = Number.POSITIVE_INFINITY;

  /**
   * Asks the shared clock now, and then every five seconds until stopped.
   *
   * @param read returns what the shared clock shows
   */
  constructor(read: () => Promise<number>, machine = THIS_MACHINE) {
    this.#read = read;
    this.#machine = machine;
    // Whatever keeps the clock from being asked is reported where it is used.
    this.#measuring = repeat(() => this.measure().catch(() => {}), EVERY_MS);
  }

  /** The shared time: between two measurements by the monotonic clock, until the first by this machine's clock. */
  now(): number {
    return this.#zero === undefined ? this.#machine.now() : Math.round(this.#zero + this.#machine.elapsed());
  }

  /** Seconds by which this machine's clock is ahead; negative: behind. 0 while that is not known. */
  get offsetSeconds(): number {
    return this.#zero === undefined ? 0 : (this.#machine.now() - this.now()) / 1_000;
  }

  /** Asks the shared clock once. A long round trip tells less than a short one, unless it shows that the former is wrong by now. */
  async measure(): Promise<void> {
    const asked = this.#machine.elapsed();
    const shown = await this.#read();
    const uncertaintyMs = (this.#machine.elapsed() - asked) / 2;
    const zero = shown - (asked + uncertaintyMs);
    const isBetter = this.#zero === undefined || uncertaintyMs <= this.#uncertaintyMs || Math.abs(zero - this.#zero) > uncertaintyMs;
    if (isBetter) [this.#zero, this.#uncertaintyMs] = [zero, uncertaintyMs];
  }

  async stop(): Promise<void> {
    await this.#measuring.stop();
  }
}
