import { setTimeout as pause } from "node:timers/promises";

/** Lets a loop sleep until there is something to do, and hear of it also when it came while the loop was at work. */
export class Bell {
  #rung = false;
  #endSleep: () => void = () => {};

  /** There is something to do. */
  ring(): void {
    this.#rung = true;
    this.#endSleep();
  }

  /** Before looking for what there is to do: what rings from here on is not seen by that look. */
  silence(): void {
    this.#rung = false;
  }

  /** Until it rings, or `milliseconds` have passed; not at all if it has rung since it was silenced. */
  async sleep(milliseconds: number): Promise<void> {
    if (this.#rung) return;
    const rung = new AbortController();
    this.#endSleep = () => rung.abort();
    await pause(milliseconds, undefined, { signal: rung.signal }).catch(() => {});
  }
}
