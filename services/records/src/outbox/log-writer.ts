import { PartlyPublished, type LogMessage, type Publisher } from "@brand-records/event-log";
import { RepeatedWarning, traceFields, type Logger } from "@brand-records/telemetry";
import type { Holder } from "./held-events.ts";
import type { RelayMetrics } from "./relay-metrics.ts";

/** A person has to let the topic take more. */
const TOO_LARGE_RETRY_MS = 5_000;

/** What holds a message back, and until when, on the monotonic clock. */
export interface Hold {
  readonly holder: Holder;
  readonly retryAt: number;
}

/** Writes messages to the log, and reports those that it does not take. */
export class LogWriter {
  readonly #publisher: Publisher;
  readonly #metrics: RelayMetrics;
  readonly #log: Logger;
  readonly #partitionsWarning: RepeatedWarning;
  /** Records whose event was named as too large, and waits. */
  readonly #named = new Set<string>();

  constructor(publisher: Publisher, metrics: RelayMetrics, log: Logger) {
    this.#publisher = publisher;
    this.#metrics = metrics;
    this.#log = log;
    this.#partitionsWarning = new RepeatedWarning(log, "events wait: their partitions of the log take none at the moment");
  }

  /**
   * Returns the messages that the log has not acknowledged.
   *
   * @throws if that is not known for each
   */
  async write(messages: readonly LogMessage[]): Promise<ReadonlyMap<LogMessage | undefined, Hold>> {
    const error = await this.#publish(messages);
    const holds = new Map<LogMessage, Hold>();
    if (error !== undefined) {
      this.#report(error);
      const now = performance.now();
      for (const { message, reason, partition } of error.failures) {
        if (reason === "partition") holds.set(message, { holder: partition, retryAt: now + error.retryMs });
        else holds.set(message, { holder: message.key, retryAt: now + TOO_LARGE_RETRY_MS });
      }
    }
    if (this.#named.size > 0) for (const message of messages) if (!holds.has(message)) this.#named.delete(message.key);
    if (this.#log.isLevelEnabled("debug")) {
      for (const message of messages) if (!holds.has(message)) this.#log.debug(logFieldsOf(message), "event moved to the log");
    }
    return holds;
  }

  async #publish(messages: readonly LogMessage[]): Promise<PartlyPublished | undefined> {
    try {
      if (messages.length > 0) await this.#publisher.publish(messages);
      return undefined;
    } catch (error) {
      if (error instanceof PartlyPublished) return error;
      throw error;
    }
  }

  #report({ failures, cause, retryMs }: PartlyPublished): void {
    const partitions = new Set(failures.filter(({ reason }) => reason === "partition").map(({ partition }) => partition));
    if (partitions.size > 0) {
      this.#metrics.failures.inc();
      this.#partitionsWarning.write({ err: cause, partitions: [...partitions], retry_in_ms: Math.round(retryMs) });
    }
    for (const { message, reason } of failures) {
      // Each is named once: it is tried every five seconds.
      if (reason !== "too_large" || this.#named.has(message.key)) continue;
      this.#named.add(message.key);
      const fields = { ...logFieldsOf(message), bytes: message.value.length };
      this.#log.error(fields, "an event is too large for the topic: it waits, and the later ones of its record");
    }
  }
}

function logFieldsOf({ key, value, headers }: LogMessage): object {
  const { id, type, brand_id } = JSON.parse(value.toString()) as { id: string; type: string; brand_id: string };
  return { event_id: id, type, brand_id, record_id: key, ...traceFields(headers["traceparent"] ?? "") };
}
