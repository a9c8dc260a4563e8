import { setTimeout as pause } from "node:timers/promises";
import { TIMED_OUT, withTimeout } from "@brand-records/lifecycle";
import { dataProblemOf, type Database, type Sql } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";
import { afterOutcomes, type LaneChange } from "../domain/lane.ts";
import { lockBrands } from "../storage/brands.ts";
import { abandonDeliveries } from "../storage/claims.ts";
import { holdLane, lockAndReadLanes, updateLanes, type LockedLane } from "../storage/lanes.ts";
import { removeDeliveries } from "../storage/leases.ts";
import { acceptNextSecret, disableReceiver } from "../storage/receivers.ts";
import { settleDeliveries, type AttemptResult } from "../storage/results.ts";
import type { SendingMetrics } from "./sending-metrics.ts";

/** Results are written in batches. A single result waits this long; under load, results gather while a batch is written. */
const GATHER_MS = 5;
const BATCH_MAX = 256;
const RETRY_MS = 500;
/** `stop` waits this long for the results to be written, in case the database becomes available again. */
const STOP_MS = 2_000;

interface Waiting {
  readonly result: AttemptResult;
  readonly done: () => void;
}

/**
 * Writes results in batches, each in one transaction. While the database is unavailable, results wait in memory and are
 * retried. A result can be written until its lease expires; then another worker sends the delivery again.
 */
export class ResultWriter {
  readonly #db: Database;
  readonly #metrics: Pick<SendingMetrics, "finished" | "disabled">;
  readonly #log: Logger;
  #waiting: Waiting[] = [];
  /** The results that are being written. */
  #batch: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #stopped = false;

  constructor(db: Database, metrics: Pick<SendingMetrics, "finished" | "disabled">, log: Logger) {
    this.#db = db;
    this.#metrics = metrics;
    this.#log = log;
  }

  /** Resolves when the result is written, or is given up: Postgres refuses its data, or `stop` timed out. */
  write(result: AttemptResult): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push({ result, done });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Writes the waiting results. Those not written after two seconds are logged and given up. */
  async stop(): Promise<void> {
    if (this.#writing === undefined || (await withTimeout(this.#writing, STOP_MS)) !== TIMED_OUT) return;
    this.#stopped = true;
    for (const { result, done } of [...this.#batch, ...this.#waiting]) {
      const { delivery_id, event_id, receiver_id, brand_id, attempt, outcome, http_status } = result;
      const fields = { delivery_id, event_id, receiver_id, brand_id, attempt, outcome, http_status };
      this.#log.error(fields, "result not written: the delivery continues when its lease expires");
      done();
    }
    this.#waiting = [];
  }

  async #writeAll(): Promise<void> {
    await pause(GATHER_MS);
    while (this.#waiting.length > 0) {
      this.#batch = this.#waiting.splice(0, BATCH_MAX);
      const isDone = await this.#tryToWrite(this.#batch.map(({ result }) => result));
      if (this.#stopped) return;
      if (isDone) {
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
    try {
      const { finished, disabled } = await writeResults(this.#db, results, Date.now(), this.#log);
      for (const [state, deliveries] of Object.entries(finished)) this.#metrics.finished.inc({ state }, deliveries);
      for (const reason of disabled) this.#metrics.disabled.inc({ reason });
      return true;
    } catch (error) {
      const [only] = results;
      if (only === undefined || dataProblemOf(error) === undefined) {
        this.#log.warn({ err: error, results: results.length }, "results cannot be written");
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
    const { delivery_id, receiver_id, lease } = result;
    try {
      await abandonDeliveries(this.#db, [{ id: delivery_id, receiver_id, lease }]);
      this.#metrics.finished.inc({ state: "removed" });
      this.#log.error({ err: reason, delivery_id, receiver_id, outcome: result.outcome }, "result refused: delivery given up");
      return true;
    } catch (error) {
      this.#log.warn({ err: error, delivery_id }, "delivery cannot be given up");
      return false;
    }
  }
}

export interface WrittenResults {
  /** Deliveries that ended, by how. */
  readonly finished: Readonly<Record<"delivered" | "failed" | "removed", number>>;
  /** Why receivers were disabled, a reason for each. */
  readonly disabled: readonly string[];
}

/** @param now milliseconds since the epoch, for the circuits and failure clocks */
export async function writeResults(db: Database, results: readonly AttemptResult[], now: number, log: Logger): Promise<WrittenResults> {
  const byReceiver = Map.groupBy(results, ({ receiver_id }) => receiver_id);
  const { finished, disabled } = await db.transaction(async (sql) => {
    const lanes = await lockAndReadLanes(sql, [...byReceiver.keys()]);
    const { kept, discarded } = await sort(sql, results, lanes);
    const settledIds = await settleDeliveries(sql, kept);
    const discardedIds = discarded.map(({ delivery_id }) => delivery_id);
    if (discardedIds.length > 0) await removeDeliveries(sql, discardedIds);
    const openLanes = lanes.filter(({ isClosed }) => !isClosed);
    const changes = openLanes.map((lane) => ({ lane, change: changeOf(lane, byReceiver.get(lane.receiverId) ?? [], settledIds, now) }));
    await updateLanes(
      sql,
      changes.map(({ lane: { receiverId }, change }) => {
        const settled = (byReceiver.get(receiverId) ?? []).filter(({ attempt_id }) => settledIds.has(attempt_id));
        const delays = settled.flatMap(({ delay_seconds }) => delay_seconds ?? []);
        const dueInSeconds = delays.length > 0 ? Math.min(...delays) : undefined;
        return { receiverId, lane: change.lane, ended: settled.length, openSeconds: change.openSeconds, dueInSeconds };
      }),
    );
    for (const { attempt_id, receiver_id, url, tested_secret, outcome } of kept) {
      if (tested_secret === null || outcome !== "accepted" || !settledIds.has(attempt_id)) continue;
      await acceptNextSecret(sql, { receiver_id, url, sealed: tested_secret });
    }
    const disabled: { receiver_id: string; reason: string }[] = [];
    for (const { lane, change } of changes) {
      const { disable } = change;
      if (disable === undefined || !(await disableReceiver(sql, lane.receiverId, disable))) continue;
      await holdLane(sql, lane.receiverId);
      disabled.push({ receiver_id: lane.receiverId, reason: disable });
    }
    const ended = (state: AttemptResult["state"]): number =>
      kept.filter((result) => result.state === state && settledIds.has(result.attempt_id)).length;
    return { disabled, finished: { delivered: ended("delivered"), failed: ended("failed"), removed: discarded.length } };
  });
  for (const fields of disabled) log.warn(fields, "receiver disabled");
  return { finished, disabled: disabled.map(({ reason }) => reason) };
}

/**
 * Separates the results to discard: nothing may be written for a brand that is being deleted, or was. Its lanes tell; the brand itself
 * is looked at only for receivers that have none, because they were deleted.
 */
async function sort(
  sql: Sql,
  results: readonly AttemptResult[],
  lanes: readonly LockedLane[],
): Promise<{ kept: AttemptResult[]; discarded: AttemptResult[] }> {
  const isClosed = new Map(lanes.map((lane) => [lane.receiverId, lane.isClosed]));
  const withoutLane = results.filter(({ receiver_id }) => !isClosed.has(receiver_id));
  const brandIds = [...new Set(withoutLane.map(({ brand_id }) => brand_id))];
  const brands = brandIds.length > 0 ? await lockBrands(sql, brandIds) : new Map<string, boolean>();
  const isKept = ({ receiver_id, brand_id }: AttemptResult): boolean =>
    isClosed.get(receiver_id) === false || (!isClosed.has(receiver_id) && brands.get(brand_id) === true);
  return { kept: results.filter(isKept), discarded: results.filter((result) => !isKept(result)) };
}

function changeOf(lane: LockedLane, results: readonly AttemptResult[], settledIds: ReadonlySet<string>, now: number): LaneChange {
  const outcomes = results
    // The receiver's URL has changed since the attempt: its outcome says nothing about the current URL.
    .filter(({ attempt_id, url }) => settledIds.has(attempt_id) && url === lane.url)
    .map(({ outcome, http_status, test, started_at }) => ({
      startedAt: Date.parse(started_at),
      outcome,
      httpStatus: http_status,
      test,
    }));
  return afterOutcomes(lane, outcomes, lane.limit, now);
}
