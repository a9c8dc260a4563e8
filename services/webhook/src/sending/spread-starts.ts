/**
 * Spreads starts over turns of the event loop. Hundreds of attempts that start at once, as a batch of intake or a claim gives them, would
 * keep the process from reading responses for as long as their preparation takes, and every one of them would look slow.
 */
export class SpreadStarts {
  readonly #perTurn: number;
  readonly #waiting: (() => void)[] = [];
  #startedInTurn = 0;

  constructor(perTurn: number) {
    this.#perTurn = perTurn;
  }

  /** Calls `start` in this turn or in a later one, in the order of the calls. */
  next(start: () => void): void {
    if (this.#startedInTurn === 0) setImmediate(() => this.#turn());
    if (this.#startedInTurn >= this.#perTurn) this.#waiting.push(start);
    else {
      this.#startedInTurn += 1;
      start();
    }
  }

  #turn(): void {
    const starts = this.#waiting.splice(0, this.#perTurn);
    this.#startedInTurn = starts.length;
    if (starts.length > 0) setImmediate(() => this.#turn());
    for (const start of starts) start();
  }
}
