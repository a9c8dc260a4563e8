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

type WriteToLog = (messages: readonly LogMessage[]) => Promise<ReadonlyMap<LogMessage | undefined, Hold>>;

/**
 * Returns what writes messages to the log, and reports those that it does not take: it returns the messages that the log has not
 * acknowledged, and rejects if that is not known for each.
 */
export function logWriter(publisher: Publisher, metrics: RelayMetrics, log: Logger): WriteToLog {
  const partitionsWarning = new RepeatedWarning(log, "events wait: their partitions of the log take none at the moment");
  /** Records whose event was named as too large, and waits. */
  const named = new Set<string>();

  const report = ({ failures, cause, retryMs }: PartlyPublished): void => {
    const partitions = new Set(failures.filter(({ reason }) => reason === "partition").map(({ partition }) => partition));
    if (partitions.size > 0) {
      metrics.failures.inc();
      partitionsWarning.write({ err: cause, partitions: [...partitions], retry_in_ms: Math.round(retryMs) });
    }
    for (const { message, reason } of failures) {
      // Each is named once: it is tried every five seconds.
      if (reason !== "too_large" || named.has(message.key)) continue;
      named.add(message.key);
      const fields = { ...logFieldsOf(message), bytes: message.value.length };
      log.error(fields, "an event is too large for the topic: it waits, and the later ones of its record");
    }
  };

  return async (messages) => {
    const holds = new Map<LogMessage, Hold>();
    try {
      if (messages.length > 0) await publisher.publish(messages);
    } catch (error) {
      if (!(error instanceof PartlyPublished)) throw error;
      report(error);
      const now = performance.now();
      for (const { message, reason, partition } of error.failures) {
        if (reason === "partition") holds.set(message, { holder: partition, retryAt: now + error.retryMs });
        else holds.set(message, { holder: message.key, retryAt: now + TOO_LARGE_RETRY_MS });
      }
    }
    if (named.size > 0) for (const message of messages) if (!holds.has(message)) named.delete(message.key);
    if (log.isLevelEnabled("debug")) {
      for (const message of messages) if (!holds.has(message)) log.debug(logFieldsOf(message), "event moved to the log");
    }
    return holds;
  };
}

function logFieldsOf({ key, value, headers }: LogMessage): object {
  const { id, type, brand_id } = JSON.parse(value.toString()) as { id: string; type: string; brand_id: string };
  return { event_id: id, type, brand_id, record_id: key, ...traceFields(headers["traceparent"] ?? "") };
}
