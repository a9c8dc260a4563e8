import { ATTRIBUTES, startBatchSpan, type TraceSpan } from "@brand-records/telemetry";
import type { EventLogConfig } from "./settings.ts";
import type { Intake, LogMessage, Publisher } from "./event-log.ts";

/** Adds a span to each batch that is published, with links to the sampled changes in it. Messages keep their own trace context. */
export function tracedPublisher(publisher: Publisher, config: EventLogConfig): Publisher {
  return {
    publish: (messages) => traced(startSpanOf("send", messages, config), () => publisher.publish(messages)),
    isReady: () => publisher.isReady(),
    stop: () => publisher.stop(),
  };
}

/** Adds a span to each batch that is stored, likewise. Its statements are part of it. */
export function tracedIntake(intake: Intake, config: EventLogConfig, group: string): Intake {
  return (messages) => traced(startSpanOf("process", messages, config, group), () => intake(messages));
}

function startSpanOf(
  operation: "send" | "process",
  messages: readonly LogMessage[],
  { KAFKA_BROKERS, KAFKA_TOPIC }: EventLogConfig,
  group?: string,
): TraceSpan | undefined {
  const contexts = messages.map(({ headers }) => headers["traceparent"] ?? null);
  return startBatchSpan(`${operation} ${KAFKA_TOPIC}`, contexts, {
    kind: operation === "send" ? "producer" : "consumer",
    attributes: {
      // Without Kafka, webhook takes the messages over gRPC.
      [ATTRIBUTES.messagingSystem]: KAFKA_BROKERS.length > 0 ? "kafka" : "brand_records",
      [ATTRIBUTES.messagingDestination]: KAFKA_TOPIC,
      [ATTRIBUTES.messagingOperation]: operation,
      [ATTRIBUTES.messagingOperationType]: operation,
      [ATTRIBUTES.messagingBatchSize]: messages.length,
      ...(group !== undefined && { [ATTRIBUTES.messagingGroup]: group }),
    },
  });
}

async function traced(span: TraceSpan | undefined, work: () => Promise<void>): Promise<void> {
  if (span === undefined) return work();
  try {
    await span.run(work);
  } catch (error) {
    span.fail(error instanceof Error ? error.name : "error");
    throw error;
  } finally {
    span.end();
  }
}
