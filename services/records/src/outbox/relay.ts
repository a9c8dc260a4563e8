import { setTimeout as pause } from "node:timers/promises";
import type { LogMessage, Publisher } from "@brand-records/event-log";
import { Backoff, WakeSignal } from "@brand-records/lifecycle";
import { openDatabaseSession, type DatabaseSession } from "@brand-records/postgres";
import { RepeatedWarning, traceFields, type Logger } from "@brand-records/telemetry";
import { readOutbox, removeFromOutbox, tryToLead, type OutboxRow } from "../storage/outbox.ts";
import { OutboxWindow } from "./outbox-window.ts";
import { CreationContexts } from "./creation-contexts.ts";
import type { RelayMetrics } from "./relay-metrics.ts";

const BATCH_MAX = 1_000;
/** The server ends the session of a relay that freezes for this long, and another process takes the lead. */
const IDLE_MS = 10_000;
/** Catches changes whose NOTIFY was lost, for example while the relay connected. */
const POLL_MS = 1_000;
/** How often a standby tries to take the lead. */
const STANDBY_RETRY_MS = 500;
/** How long a failure to move events counts while this process stands by. A process that leads without success ends sooner. */
const FAILED_MS = 10_000;
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 2_000;

export interface RelayOptions {
  readonly databaseUrl: string;
  readonly publisher: Publisher;
  readonly metrics: RelayMetrics;
  readonly log: Logger;
}

/**
 * Moves events from the outbox to the log, in order for each record: reads, publishes, and removes what the log has
 * acknowledged. If it is killed, some events are published twice and none is lost. One process is active, by advisory lock:
 * it reads and removes over the session that holds the lock, so a process that lost the lock moves nothing.
 */
export class OutboxRelay {
  readonly #options: RelayOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  readonly #contexts = new CreationContexts();
  readonly #wake = new WakeSignal();
  #isHealthy = false;
  /** When this process last failed to move events, on the monotonic clock. */
  #failedAt = -Infinity;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Whether it moves events, or stands by while another process does. */
  get isHealthy(): boolean {
    return this.#isHealthy;
  }

  /** Finishes the current batch. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake.notify();
    await this.#running;
    await this.#options.publisher.stop();
  }

  async #run(): Promise<void> {
    const { log, metrics } = this.#options;
    const warning = new RepeatedWarning(log, "events cannot be moved to the log");
    const backoff = new Backoff(RETRY_MS_MIN, RETRY_MS_MAX);
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#lead(() => backoff.reset());
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        this.#isHealthy = false;
        this.#failedAt = performance.now();
        metrics.failures.inc();
        const retryMs = backoff.next();
        // Webhook or the brokers may come a moment later in a start.
        if (retryMs > RETRY_MS_MIN) warning.write({ err: error, retry_in_ms: retryMs });
        else log.info({ reason: error instanceof Error ? error.message : String(error) }, "events wait: the log takes none at the moment");
        await this.#pause(retryMs);
      } finally {
        metrics.leads.set(0);
      }
    }
  }

  async #lead(onMoved: () => void): Promise<void> {
    const { databaseUrl, publisher, metrics, log } = this.#options;
    const session = await openDatabaseSession({
      url: databaseUrl,
      applicationName: "records outbox relay",
      idleTimeoutMs: IDLE_MS,
    });
    try {
      while (!(await tryToLead(session))) {
        // Without brokers the processes take turns: each fails, and stands by while the next one is about to.
        this.#isHealthy = performance.now() - this.#failedAt > FAILED_MS;
        await this.#pause(STANDBY_RETRY_MS);
        if (this.#stopping.signal.aborted) return;
      }
      metrics.leads.set(1);
      log.info({}, "outbox relay leads");
      await session.listen("records_outbox", () => this.#wake.notify());
      // Connects before the first event, and throws if it cannot.
      await publisher.publish([]);
      const window = new OutboxWindow();
      while (!this.#stopping.signal.aborted) {
        this.#wake.reset();
        const isFull = (await this.#moveBatch(session, window)) === BATCH_MAX;
        this.#isHealthy = true;
        onMoved();
        if (!isFull) await this.#wake.wait(POLL_MS);
      }
    } finally {
      // A session that has ended already needs no stop.
      await session.stop().catch(() => {});
    }
  }

  /** Moves one batch and returns its size. */
  async #moveBatch(session: DatabaseSession, window: OutboxWindow): Promise<number> {
    const { publisher, metrics, log } = this.#options;
    const { rows, xmin } = await readOutbox(session, window.ranges, BATCH_MAX);
    const seqs = rows.map(({ seq }) => seq);
    let removedBy = xmin;
    if (rows.length > 0) {
      const messages = rows.map((row) => messageFrom(row, this.#contexts.of(row)));
      await publisher.publish(messages);
      this.#contexts.forget();
      if (log.isLevelEnabled("debug")) for (const message of messages) log.debug(logFieldsOf(message), "event moved to the log");
      removedBy = await removeFromOutbox(session, seqs);
      metrics.published.inc(rows.length);
    }
    // Noted last: rows that were not removed must be read again.
    window.note(seqs, rows.length < BATCH_MAX, xmin, removedBy);
    return rows.length;
  }

  async #pause(milliseconds: number): Promise<void> {
    await pause(milliseconds, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }
}

function messageFrom({ aggregateid, payload }: OutboxRow, traceparent: string): LogMessage {
  return { key: aggregateid, value: Buffer.from(payload), headers: { traceparent } };
}

function logFieldsOf({ key, value, headers }: LogMessage): object {
  const { id, type, brand_id } = JSON.parse(value.toString()) as { id: string; type: string; brand_id: string };
  return { event_id: id, type, brand_id, record_id: key, ...traceFields(headers["traceparent"] ?? "") };
}
