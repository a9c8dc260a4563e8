import type { Database } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";
import { returnClaims, type ClaimedDelivery } from "../storage/claims.ts";

/** Deliveries leased to this process that it does not send. They become pending again, and the attempt does not count. */
export class ReturnedClaims {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #onReturned: () => void;
  readonly #waiting: ClaimedDelivery[] = [];
  #returning: Promise<void> | undefined;

  /** @param onReturned called when all have been returned */
  constructor(db: Database, log: Logger, onReturned: () => void) {
    this.#db = db;
    this.#log = log;
    this.#onReturned = onReturned;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Adds deliveries; `begin` returns them. */
  add(...deliveries: readonly ClaimedDelivery[]): void {
    this.#waiting.push(...deliveries);
  }

  /**
   * Begins to return what was added, unless that is under way. No claim waits for it: a lost connection of intake keeps its lanes locked
   * until the server has noticed. Call it again later, in case it fails.
   */
  begin(): void {
    if (this.#waiting.length > 0 && this.#returning === undefined) void this.all();
  }

  /** Resolves when all are returned, or when that has failed, which is logged. */
  all(): Promise<void> {
    this.#returning ??= this.#returnAll()
      .catch((error: unknown) => this.#log.warn({ err: error, deliveries: this.#waiting.length }, "claims not returned"))
      .finally(() => void (this.#returning = undefined));
    return this.#returning;
  }

  async #returnAll(): Promise<void> {
    if (this.#waiting.length === 0) return;
    while (this.#waiting.length > 0) {
      const returned = [...this.#waiting];
      await returnClaims(this.#db, returned);
      this.#waiting.splice(0, returned.length);
    }
    this.#onReturned();
  }
}
