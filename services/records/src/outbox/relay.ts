import { setTimeout as pause } from "node:timers/promises";
import type { LogMessage, Publisher } from "@brand-records/event-log";
import { WakeSignal } from "@brand-records/lifecycle";
import { openSession, type Session } from "@brand-records/postgres";
import { traceparentFrom } from "@brand-records/rpc";
import type { Logger } from "@brand-records/telemetry";
import { readOutbox, removeFromOutbox, tryToLead, type OutboxRow } from "../storage/outbox.ts";
import { OutboxWindow } from "./outbox-window.ts";
import type { RelayMetrics } from "./relay-metrics.ts";

const BATCH_MAX = 1_000;
/** The server ends the session of a relay that is frozen for this long, and another process takes the lead. */
const IDLE_MS = 10_000;
/** Nobody may have been told of a change, as when its NOTIFY came while we connected. */
const POLL_MS = 1_000;
/** How often a relay that does not lead asks whether it may. */
const ASK_MS = 500;
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 2_000;

export interface RelayOptions {
  readonly databaseUrl: string;
  readonly publisher: Publisher;
  readonly metrics: RelayMetrics;
  readonly log: Logger;
}

/**
 * Moves events from the outbox to the log, in order by record: reads, publishes, removes what the log has acknowledged.
 * Killed anywhere, it publishes some again, never loses one. Of all the processes one is active, by advisory lock: reading
 * and removing go over the session that holds the lock, so one that has lost it moves nothing more.
 */
export class OutboxRelay {
  readonly #options: RelayOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  readonly #wake = new WakeSignal();
  #well = false;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** It moves events, or stands by while another process does. */
  get isWell(): boolean {
    return this.#well;
  }

  /** Finishes what it is publishing. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake.notify();
    await this.#running;
    await this.#options.publisher.stop();
  }

  async #run(): Promise<void> {
    const { log, metrics } = this.#options;
    let retryMs = RETRY_MS_MIN;
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#lead(() => void (retryMs = RETRY_MS_MIN));
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        this.#well = false;
        metrics.failures.inc();
        log.warn({ err: error, retry_in_ms: retryMs }, "events cannot be moved to the log");
        await this.#pause(retryMs);
        retryMs = Math.min(retryMs * 2, RETRY_MS_MAX);
      } finally {
        metrics.leads.set(0);
      }
    }
  }

  async #lead(moved: () => void): Promise<void> {
    const { databaseUrl, publisher, metrics, log } = this.#options;
    const session = await openSession({
      url: databaseUrl,
      applicationName: "records outbox relay",
      idleTimeoutMs: IDLE_MS,
    });
    try {
      while (!(await tryToLead(session))) {
        this.#well = true;
        await this.#pause(ASK_MS);
        if (this.#stopping.signal.aborted) return;
      }
      metrics.leads.set(1);
      log.info({}, "leading: events go from the outbox to the log");
      await session.listen("records_outbox", () => this.#wake.notify());
      // Connects before there is anything to publish, and tells if it cannot.
      await publisher.publish([]);
      const window = new OutboxWindow();
      while (!this.#stopping.signal.aborted) {
        this.#wake.reset();
        const full = (await this.#move(session, window)) === BATCH_MAX;
        this.#well = true;
        moved();
        if (!full) await this.#wake.wait(POLL_MS);
      }
    } finally {
      // Unless it has ended already: then the end has been told.
      await session.stop().catch(() => {});
    }
  }

  /** One batch; answers its size. */
  async #move(session: Session, window: OutboxWindow): Promise<number> {
    const { publisher, metrics } = this.#options;
    const { rows, snapshot } = await readOutbox(session, window.ranges, BATCH_MAX);
    if (rows.length > 0) {
      await publisher.publish(rows.map(messageFrom));
      await removeFromOutbox(
        session,
        rows.map(({ seq }) => seq),
      );
      metrics.published.inc(rows.length);
    }
    // Only now: until they are removed they must be read again.
    window.note(
      rows.map(({ seq }) => seq),
      rows.length < BATCH_MAX,
      snapshot,
    );
    return rows.length;
  }

  async #pause(milliseconds: number): Promise<void> {
    await pause(milliseconds, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }
}

function messageFrom({ aggregateid, payload, traceparent }: OutboxRow): LogMessage {
  return { key: aggregateid, value: Buffer.from(payload), headers: { traceparent: traceparentFrom(traceparent ?? undefined) } };
}
