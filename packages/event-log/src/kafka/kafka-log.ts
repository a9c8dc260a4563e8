import type { Logger } from "@brand-records/telemetry";
import type { DeadLetters, Intake, Publisher, Subscription } from "../event-log.ts";
import type { EventLogConfig } from "../settings.ts";
import { KafkaDeadLetters } from "./dead-letters.ts";
import { openKafka } from "./open-kafka.ts";
import { KafkaPublisher } from "./publisher.ts";
import { KafkaSubscription } from "./subscription.ts";
import { deadTopicOf } from "./topics.ts";

/** Well within the week after which brokers forget it. */
const KEEP_POSITION_MS = 6 * 3_600_000;

/** The writing end in Kafka. It begins to connect at once, and is there before it has. */
export function openKafkaPublisher(config: EventLogConfig, clientId: string, log: Logger): Publisher {
  return new KafkaPublisher(openKafka(config, clientId, log), config, config.KAFKA_TOPIC, log);
}

export interface KafkaReader {
  readonly deadLetters: DeadLetters;
  subscribe(intake: Intake): Subscription;
  stop(): Promise<void>;
}

/** The reading end in Kafka, and what is set aside. Readers of one group share the messages. */
export function openKafkaReader(config: EventLogConfig, groupId: string, log: Logger): KafkaReader {
  const kafka = openKafka(config, groupId, log);
  const { KAFKA_TOPIC: topic } = config;
  const aside = new KafkaPublisher(kafka, config, deadTopicOf(topic), log);
  const back = new KafkaPublisher(kafka, config, topic, log);
  const deadLetters = new KafkaDeadLetters({ kafka, topic, groupId: `${topic}.${groupId}`, aside, back, log });
  const keeping = setInterval(() => {
    deadLetters.keepPosition().catch((error: unknown) => log.warn({ err: error }, "how far dead letters were replayed could not be kept"));
  }, KEEP_POSITION_MS);
  return {
    deadLetters,
    subscribe: (intake) => new KafkaSubscription({ kafka, config, topic, groupId: `${topic}.${groupId}`, intake, log }),
    async stop() {
      clearInterval(keeping);
      await Promise.all([aside.stop(), back.stop()]);
    },
  };
}
