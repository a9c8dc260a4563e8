/** How much longer than usual fresh work may wait. */
const TARGET_MS = 5;
/** Waits are averaged over this time, and the rate changes after it, if there are enough for a mean that says something; or else after a second. */
const INTERVAL_MS = 100;
const SAMPLES = 20;
/** Without fresh work for this long, background work has everything. */
const IDLE_MS = 1_000;
/** Units a second that background work always has, so that a backlog ends: a tenth of what one process does. */
const LEAST = 500;
/** Units a second beside fresh work. */
const GREATEST = 5_000;
/** Units that are given out together: a claim costs as much for one as for many. */
export const BATCH = 16;
/** What the rate gains in a second without any waiting, in units a second, and what it loses of itself for each target above the target. */
const GAIN = 125;
const LOSS = 3 / 10;
/** "Usual" is the least mean of this time: what grows slowly becomes usual, and what was an exception is forgotten. */
const USUAL_MS = 120_000;

/**
 * How much background work a process may begin, by how long fresh work waits in it: the control of LEDBAT (RFC 6817), as a rate. A window of
 * work in progress would not do: a backlog at a quick receiver has few attempts in flight and takes a core.
 *
 * While fresh work waits as long as usual, the rate grows; the nearer it comes to 5 ms more, the slower. Above that the rate shrinks in
 * proportion, to the half at most in one interval. Several processes that serve one database each see its waits, and share what is left.
 *
 * Times are milliseconds of a clock that never goes back. Rates are units per second.
 */
export class BackgroundRate {
  #rate = LEAST;
  /** Units that may begin now. */
  #units = 0;
  #countedAt = 0;
  #freshAt = Number.NEGATIVE_INFINITY;
  #interval = { from: 0, sum: 0, count: 0 };
  /** The least mean of each of the last periods, the newest first. */
  #least: { from: number; ms: number }[] = [];

  /** Fresh work began after it had waited for so long. */
  waited(ms: number, now: number): void {
    // What there was before says nothing about now.
    if (this.#isIdle(now)) {
      this.#rate = LEAST;
      this.#units = 0;
      this.#countedAt = now;
      this.#interval = { from: now, sum: 0, count: 0 };
    }
    this.#freshAt = now;
    this.#interval.sum += ms;
    this.#interval.count += 1;
    const lasted = now - this.#interval.from;
    if (lasted < INTERVAL_MS || (this.#interval.count < SAMPLES && lasted < IDLE_MS)) return;
    this.#count(now);
    this.#adjust(this.#interval.sum / this.#interval.count, now, lasted);
    this.#interval = { from: now, sum: 0, count: 0 };
  }

  /** Takes units for work that begins now. @returns how many, `wanted` at most */
  take(wanted: number, now: number): number {
    if (this.#isIdle(now)) return wanted;
    this.#count(now);
    const taken = Math.min(wanted, Math.floor(this.#units));
    this.#units -= taken;
    return taken;
  }

  /** Gives back units that were taken for work that there was not. */
  giveBack(units: number): void {
    this.#units += units;
  }

  /** Milliseconds until there is a whole batch; 0 if there is one. */
  untilBatch(now: number): number {
    if (this.#isIdle(now)) return 0;
    this.#count(now);
    return Math.max(0, ((BATCH - this.#units) / this.#rate) * 1_000);
  }

  #isIdle(now: number): boolean {
    return now - this.#freshAt > IDLE_MS;
  }

  /** What is not taken within an interval is gone, so that no burst follows a pause. */
  #count(now: number): void {
    this.#units = Math.min((this.#rate * INTERVAL_MS) / 1_000, this.#units + (this.#rate * (now - this.#countedAt)) / 1_000);
    this.#countedAt = now;
  }

  #adjust(mean: number, now: number, lasted: number): void {
    const over = (mean - this.#usual(mean, now)) / TARGET_MS;
    const gained = GAIN * (lasted / 1_000) * Math.max(0, 1 - over);
    const lost = this.#rate * Math.min(0.5, LOSS * Math.max(0, over - 1));
    this.#rate = Math.min(GREATEST, Math.max(LEAST, this.#rate + gained - lost));
  }

  /** Returns the least mean of the last two minutes, this one included. */
  #usual(mean: number, now: number): number {
    const [newest] = this.#least;
    if (newest === undefined || now - newest.from >= USUAL_MS / 4) this.#least.unshift({ from: now, ms: mean });
    else newest.ms = Math.min(newest.ms, mean);
    this.#least = this.#least.filter(({ from }) => now - from < USUAL_MS);
    return Math.min(...this.#least.map(({ ms }) => ms));
  }
}
