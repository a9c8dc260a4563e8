const EVERY_MS = 10_000;

export interface WarningLog {
  warn(fields: object, message: string): void;
}

/** Logs a warning that every request may cause at most every ten seconds, with the number of those suppressed. */
export class RepeatedWarning {
  readonly #log: WarningLog;
  readonly #message: string;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #suppressed = 0;

  constructor(log: WarningLog, message: string) {
    this.#log = log;
    this.#message = message;
  }

  write(fields: object): void {
    const now = performance.now();
    if (now - this.#writtenAt < EVERY_MS) {
      this.#suppressed += 1;
      return;
    }
    this.#log.warn({ ...fields, suppressed: this.#suppressed }, this.#message);
    this.#writtenAt = now;
    this.#suppressed = 0;
  }
}
