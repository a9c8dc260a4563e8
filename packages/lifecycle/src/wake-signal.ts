import { setTimeout as pause } from "node:timers/promises";

/** Wakes a polling loop. A notification that arrives while the loop is busy is kept: the next `wait` returns immediately. */
export class WakeSignal {
  #notified = false;
  #endWait: () => void = () => {};

  notify(): void {
    this.#notified = true;
    this.#endWait();
  }

  /** Forgets earlier notifications. Call it before looking for work: that look covers them. */
  reset(): void {
    this.#notified = false;
  }

  /** Resolves with the next notification, or after `milliseconds`; immediately if there was one since the last `reset`. */
  async wait(milliseconds: number): Promise<void> {
    if (this.#notified) return;
    const notified = new AbortController();
    this.#endWait = () => notified.abort();
    await pause(milliseconds, undefined, { signal: notified.signal }).catch(() => {});
  }
}
