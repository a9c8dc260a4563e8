import { setTimeout as pause } from "node:timers/promises";
import { TIMED_OUT, withTimeout } from "@brand-records/lifecycle";
import { dataProblemOf, type Database } from "@brand-records/postgres";
import { abandonDeliveries } from "../storage/claims.ts";
import type { AttemptResult } from "../storage/results.ts";
import { writeResults } from "../use-cases/write-results.ts";
import type { AttemptOptions } from "./send-delivery.ts";

/**
 * Results are written in batches. A single result waits for others as long as the last batch took to write, and this long at most; under
 * load, results gather while a batch is written.
 */
const GATHER_MS_MAX = 5;
const BATCH_MAX = 256;
const RETRY_MS = 500;
/** `stop` waits this long for the results to be written, in case the database becomes available again. */
const STOP_MS = 2_000;

interface Waiting {
  readonly result: AttemptResult;
  readonly done: () => void;
}

type ResultWriterOptions = Pick<AttemptOptions, "clock" | "metrics" | "log"> & { readonly db: Database };

/**
 * Writes results in batches, each in one transaction. While the database is unavailable, results wait in memory and are
 * retried. A result can be written until its lease expires; then another worker sends the delivery again.
 */
export class ResultWriter {
  readonly #options: ResultWriterOptions;
  #waiting: Waiting[] = [];
  #batch: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #stopped = false;
  #gatherMs = GATHER_MS_MAX;

  constructor(options: ResultWriterOptions) {
    this.#options = options;
  }

  /** @param done called when the result is written, or is given up: Postgres refuses its data, or `stop` timed out */
  write(result: AttemptResult, done: () => void): void {
    this.#waiting.push({ result, done });
    this.#writing ??= this.#writeAll();
  }

  /** Writes the waiting results. Those not written after two seconds are logged and given up. */
  async stop(): Promise<void> {
    if (this.#writing === undefined || (await withTimeout(this.#writing, STOP_MS)) !== TIMED_OUT) return;
    this.#stopped = true;
    for (const { result, done } of [...this.#batch, ...this.#waiting]) {
      const { delivery_id, event_id, receiver_id, brand_id, attempt, outcome, http_status } = result;
      const fields = { delivery_id, event_id, receiver_id, brand_id, attempt, outcome, http_status };
      this.#options.log.error(fields, "result not written: the delivery continues when its lease expires");
      done();
    }
    this.#waiting = [];
  }

  async #writeAll(): Promise<void> {
    await pause(this.#gatherMs);
    while (this.#waiting.length > 0) {
      const begun = performance.now();
      this.#batch = this.#waiting.splice(0, BATCH_MAX);
      const isDone = await this.#tryToWrite(this.#batch.map(({ result }) => result));
      if (this.#stopped) return;
      if (isDone) {
        this.#gatherMs = Math.min(GATHER_MS_MAX, performance.now() - begun);
        for (const { done } of this.#batch.splice(0)) done();
        continue;
      }
      this.#waiting.unshift(...this.#batch.splice(0));
      await pause(RETRY_MS);
    }
    this.#writing = undefined;
  }

  /** Returns true if every result is written or given up, false if they must be retried. */
  async #tryToWrite(results: readonly AttemptResult[]): Promise<boolean> {
    const { db, clock, metrics, log } = this.#options;
    try {
      const { finished, disabled } = await writeResults(db, results, clock.now(), log);
      for (const [state, deliveries] of Object.entries(finished)) metrics.finished.inc({ state }, deliveries);
      for (const reason of disabled) metrics.disabled.inc({ reason });
      return true;
    } catch (error) {
      const [only] = results;
      if (only === undefined || dataProblemOf(error) === undefined) {
        log.warn({ err: error, results: results.length }, "results cannot be written");
        return false;
      }
      // Postgres would refuse this data every time, and all results behind it would wait.
      if (results.length > 1) return this.#writeEach(results);
      return this.#giveUp(only, error);
    }
  }

  async #writeEach(results: readonly AttemptResult[]): Promise<boolean> {
    for (const result of results) if (!(await this.#tryToWrite([result]))) return false;
    return true;
  }

  /** Gives up a result that can never be written, for example because the partition of its event's day was dropped meanwhile. */
  async #giveUp(result: AttemptResult, reason: unknown): Promise<boolean> {
    const { db, metrics, log } = this.#options;
    const { delivery_id, receiver_id, lease } = result;
    try {
      await abandonDeliveries(db, [{ id: delivery_id, receiver_id, lease }]);
      metrics.finished.inc({ state: "removed" });
      log.error({ err: reason, delivery_id, receiver_id, outcome: result.outcome }, "result refused: delivery given up");
      return true;
    } catch (error) {
      log.warn({ err: error, delivery_id }, "delivery cannot be given up");
      return false;
    }
  }
}
