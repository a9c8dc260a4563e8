import { setTimeout as pause } from "node:timers/promises";
import type { LogMessage, Publisher } from "@brand-records/event-log";
import { Backoff, WakeSignal } from "@brand-records/lifecycle";
import { openDatabaseSession, type DatabaseSession } from "@brand-records/postgres";
import { RepeatedWarning, type Logger } from "@brand-records/telemetry";
import { readOutbox, removeFromOutbox, tryToLead, type OutboxRow } from "../storage/outbox.ts";
import { OutboxWindow } from "./outbox-window.ts";
import { CreationContexts } from "./creation-contexts.ts";
import { HeldEvents, type HeldEvent } from "./held-events.ts";
import { logWriter } from "./log-writer.ts";
import type { RelayMetrics } from "./relay-metrics.ts";

const BATCH_MAX = 1_000;
/** Events that the log does not take, in memory by number, about 25 MB: beyond them nothing is read until some have left. */
const HELD_MAX = 50_000;
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
 * acknowledged. It holds back what the log does not take, and goes on with other records. If it is killed, some events are published twice
 * and none is lost. One process is active, by advisory lock: it reads and removes over the session that holds the lock, so a process that
 * lost the lock moves nothing.
 */
export class OutboxRelay {
  readonly #options: RelayOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  readonly #contexts = new CreationContexts();
  readonly #wake = new WakeSignal();
  readonly #write: ReturnType<typeof logWriter>;
  #isHealthy = false;
  /** When this process last failed to move events, on the monotonic clock. */
  #failedAt = -Infinity;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#write = logWriter(options.publisher, options.metrics, options.log);
    this.#running = this.#run();
  }

  /** Whether it moves events, or stands by while another process does. Partitions that take none leave it healthy, unless all do. */
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
        metrics.show({ size: 0, tooLarge: 0 });
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
        this.#contexts.clear();
        await this.#pause(STANDBY_RETRY_MS);
        if (this.#stopping.signal.aborted) return;
      }
      metrics.leads.set(1);
      log.info({}, "outbox relay leads");
      // A removal that a crash of the server undoes is an event that is published twice, which the relay may always do.
      await session.query("set synchronous_commit = off");
      await session.listen("records_outbox", () => this.#wake.notify());
      // Connects before the first event, and throws if it cannot.
      await publisher.publish([]);
      const window = new OutboxWindow();
      const held = new HeldEvents();
      while (!this.#stopping.signal.aborted) {
        this.#wake.reset();
        await this.#moveHeld(session, held);
        const isFull = await this.#moveNext(session, window, held);
        this.#isHealthy = held.size === 0 || publisher.isReady();
        onMoved();
        metrics.show(held);
        if (!isFull) await this.#wake.wait(Math.min(POLL_MS, held.dueInMs(performance.now())));
      }
    } finally {
      // A session that has ended already needs no stop.
      await session.stop().catch(() => {});
    }
  }

  /** Tries those held events again whose time has come. */
  async #moveHeld(session: DatabaseSession, held: HeldEvents): Promise<void> {
    const due = held.due(performance.now(), BATCH_MAX);
    if (due.length === 0) return;
    const ranges = due.map(({ seq }) => ({ after: seq - 1, upTo: seq })).toSorted((a, b) => a.upTo - b.upTo);
    const { rows } = await readOutbox(session, ranges, BATCH_MAX);
    const present = new Set(rows.map(({ seq }) => seq));
    for (const event of due) if (!present.has(event.seq)) held.release(event);
    if (rows.length > 0) await this.#move(session, rows, held);
  }

  /** Moves the next batch. Returns whether there may be more. */
  async #moveNext(session: DatabaseSession, window: OutboxWindow, held: HeldEvents): Promise<boolean> {
    if (held.size >= HELD_MAX) return false;
    const { rows, xmin } = await readOutbox(session, window.ranges, BATCH_MAX);
    const free = rows.filter((row) => !held.holdBehind(eventOf(row)));
    const removedBy = rows.length > 0 ? await this.#move(session, free, held) : xmin;
    // Noted last: rows that were neither removed nor held must be read again.
    window.note(
      rows.map(({ seq }) => seq),
      rows.length < BATCH_MAX,
      xmin,
      removedBy,
    );
    return rows.length === BATCH_MAX;
  }

  /** Writes to the log, removes what it has acknowledged, and holds the rest. Returns the transaction that removed it. */
  async #move(session: DatabaseSession, rows: readonly OutboxRow[], held: HeldEvents): Promise<bigint> {
    const messages = rows.map((row) => messageFrom(row, this.#contexts.of(row)));
    const holds = await this.#write(messages);
    const moved = rows.filter((_, index) => !holds.has(messages[index]));
    this.#contexts.forget(moved);
    const seqs = moved.map(({ seq }) => seq);
    const removedBy = await removeFromOutbox(session, seqs);
    this.#options.metrics.published.inc(moved.length);
    rows.forEach((row, index) => {
      const hold = holds.get(messages[index]);
      if (hold === undefined) held.release(eventOf(row));
      else held.hold(eventOf(row), hold.holder, hold.retryAt);
    });
    return removedBy;
  }

  async #pause(milliseconds: number): Promise<void> {
    await pause(milliseconds, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }
}

const eventOf = ({ aggregateid, seq }: OutboxRow): HeldEvent => ({ record: aggregateid, seq });

function messageFrom({ aggregateid, payload }: OutboxRow, traceparent: string): LogMessage {
  return { key: aggregateid, value: Buffer.from(payload), headers: { traceparent } };
}
