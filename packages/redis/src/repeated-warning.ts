import type { RedisLog } from "./redis-client.ts";

const EVERY_MS = 10_000;

/** A warning about what may happen with every request: written at most every ten seconds, and how often it was not. */
export class RepeatedWarning {
  readonly #log: Pick<RedisLog, "warn">;
  readonly #message: string;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #suppressed = 0;

  constructor(log: Pick<RedisLog, "warn">, message: string) {
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
