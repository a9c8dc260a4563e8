import { setTimeout as pause } from "node:timers/promises";
import { TIMED_OUT, withTimeout } from "@brand-records/lifecycle";
import { dataProblemOf, type Database } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";
import { afterOutcomes, type LaneChange } from "../domain/lane.ts";
import { abandonDeliveries } from "../storage/unsent-deliveries.ts";
import { disableByItself, lockLanes, settleDeliveries, updateLanes, type AttemptResult, type LockedLane } from "../storage/results.ts";

/** Results are written together: one that comes alone does not wait long, and many wait for each other's transaction. */
const GATHER_MS = 5;
const BATCH_MAX = 256;
const RETRY_MS = 500;
/** While this stops: a database that is back by then gets the results. */
const STOP_MS = 2_000;

interface Waiting {
  readonly result: AttemptResult;
  readonly written: () => void;
}

/**
 * Writes what came of attempts, in batches, each a transaction. While the database is away results wait here and are tried
 * again: until their leases end they count, after that the deliveries are somebody else's, and are sent again.
 */
export class ResultWriter {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #now: () => number;
  #waiting: Waiting[] = [];
  /** Those of the transaction under way. */
  #batch: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #stopped = false;

  constructor(db: Database, log: Logger, now: () => number = Date.now) {
    this.#db = db;
    this.#log = log;
    this.#now = now;
  }

  /** Resolves when it is written, or given up while this stops. */
  write(result: AttemptResult): Promise<void> {
    return new Promise((written) => {
      this.#waiting.push({ result, written });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Writes what has come; after two seconds says what is not written down, and gives it up. */
  async stop(): Promise<void> {
    if (this.#writing === undefined || (await withTimeout(this.#writing, STOP_MS)) !== TIMED_OUT) return;
    this.#stopped = true;
    for (const { result, written } of [...this.#batch, ...this.#waiting]) {
      const { delivery_id, event_id, receiver_id, brand_id, attempt, outcome, http_status } = result;
      const fields = { delivery_id, event_id, receiver_id, brand_id, attempt, outcome, http_status };
      this.#log.error(fields, "a result is not written down: the delivery goes on when its lease expires");
      written();
    }
    this.#waiting = [];
  }

  async #writeAll(): Promise<void> {
    await pause(GATHER_MS);
    while (this.#waiting.length > 0) {
      this.#batch = this.#waiting.splice(0, BATCH_MAX);
      const isWritten = await this.#tryToWrite(this.#batch.map(({ result }) => result));
      if (this.#stopped) return;
      if (isWritten) {
        for (const { written } of this.#batch.splice(0)) written();
        continue;
      }
      this.#waiting.unshift(...this.#batch.splice(0));
      await pause(RETRY_MS);
    }
    this.#writing = undefined;
  }

  async #tryToWrite(results: readonly AttemptResult[]): Promise<boolean> {
    try {
      await writeResults(this.#db, results, this.#now(), this.#log);
      return true;
    } catch (error) {
      const [only] = results;
      if (only === undefined || dataProblemOf(error) === undefined) {
        this.#log.warn({ err: error, results: results.length }, "results could not be written");
        return false;
      }
      // What Postgres refuses once it refuses always, and everything behind it would wait.
      if (results.length > 1) return this.#writeEach(results);
      return this.#giveUp(only, error);
    }
  }

  async #writeEach(results: readonly AttemptResult[]): Promise<boolean> {
    for (const result of results) if (!(await this.#tryToWrite([result]))) return false;
    return true;
  }

  /** As when the day of its event was dropped meanwhile: nothing can come of it any more. */
  async #giveUp(result: AttemptResult, reason: unknown): Promise<boolean> {
    const { delivery_id, receiver_id, lease } = result;
    try {
      await abandonDeliveries(this.#db, [{ id: delivery_id, receiver_id, lease }]);
      this.#log.error({ err: reason, delivery_id, receiver_id, outcome: result.outcome }, "a result is refused: its delivery is given up");
      return true;
    } catch (error) {
      this.#log.warn({ err: error, delivery_id }, "a delivery could not be given up");
      return false;
    }
  }
}

/** @param now milliseconds since the epoch, for how long a receiver has been failing */
export async function writeResults(db: Database, results: readonly AttemptResult[], now: number, log: Logger): Promise<void> {
  const byReceiver = Map.groupBy(results, ({ receiver_id }) => receiver_id);
  const disabled = await db.transaction(async (sql) => {
    const lanes = await lockLanes(sql, [...byReceiver.keys()]);
    const ours = await settleDeliveries(sql, results);
    const changes = lanes.map((lane) => ({ lane, change: changeOf(lane, byReceiver.get(lane.receiverId) ?? [], ours, now) }));
    await updateLanes(
      sql,
      changes.map(({ lane: { receiverId }, change }) => {
        const settled = (byReceiver.get(receiverId) ?? []).filter(({ delivery_id }) => ours.has(delivery_id));
        const delays = settled.flatMap(({ delay_seconds }) => delay_seconds ?? []);
        const dueInSeconds = delays.length > 0 ? Math.min(...delays) : undefined;
        return { receiverId, lane: change.lane, ended: settled.length, parkSeconds: change.parkSeconds, dueInSeconds };
      }),
    );
    const gone: { receiver_id: string; reason: string }[] = [];
    for (const { lane, change } of changes) {
      const { disable } = change;
      if (disable !== undefined && (await disableByItself(sql, lane.receiverId, disable))) {
        gone.push({ receiver_id: lane.receiverId, reason: disable });
      }
    }
    return gone;
  });
  for (const each of disabled) log.warn(each, "receiver disabled");
}

function changeOf(lane: LockedLane, results: readonly AttemptResult[], ours: ReadonlySet<string>, now: number): LaneChange {
  const outcomes = results
    // What another URL answered says nothing of this one.
    .filter(({ delivery_id, url }) => ours.has(delivery_id) && url === lane.url)
    .map(({ outcome, http_status, test, started_at }) => ({
      startedAt: Date.parse(started_at),
      accepted: outcome === "accepted",
      httpStatus: http_status,
      test,
    }));
  return afterOutcomes(lane, outcomes, lane.limit, now);
}
