import type { Logger } from "@brand-records/telemetry";
import type { DeadLetters, Intake, OnLost, Publisher, Subscription, StoredMessages } from "../event-log.ts";
import type { EventLogConfig } from "../settings.ts";
import { KafkaDeadLetters } from "./dead-letters.ts";
import { openKafka } from "./open-kafka.ts";
import { KafkaPublisher } from "./publisher.ts";
import { kafkaStoredMessages } from "./stored-messages.ts";
import { KafkaSubscription } from "./subscription.ts";
import { deadLetterTopicOf } from "./topics.ts";

/** Well within the week after which brokers delete it. */
const KEEP_POSITION_MS = 6 * 3_600_000;

/** Opens the writing end in Kafka. It connects with the first messages; nothing needs to be reachable yet. */
export function openKafkaPublisher(config: EventLogConfig, clientId: string, log: Logger): Publisher {
  return new KafkaPublisher(openKafka(config, clientId, log), config, config.KAFKA_TOPIC, log);
}

export interface KafkaReader {
  readonly deadLetters: DeadLetters;
  readonly messages: StoredMessages;
  subscribe(intake: Intake, onLost?: OnLost): Subscription;
  stop(): Promise<void>;
}

/** Opens the reading end in Kafka, and the dead letters. Readers with the same `groupId` share the messages. */
export function openKafkaReader(config: EventLogConfig, groupId: string, log: Logger): KafkaReader {
  const kafka = openKafka(config, groupId, log);
  const { KAFKA_TOPIC: topic } = config;
  const group = `${topic}.${groupId}`;
  const deadLetterPublisher = new KafkaPublisher(kafka, config, deadLetterTopicOf(topic), log);
  const replayPublisher = new KafkaPublisher(kafka, config, topic, log);
  const deadLetters = new KafkaDeadLetters({ kafka, topic, groupId: group, deadLetterPublisher, replayPublisher, log });
  const keeping = setInterval(() => {
    deadLetters
      .keepPosition()
      .catch((error: unknown) => log.warn({ err: error }, "the replay offset of dead letters could not be renewed"));
  }, KEEP_POSITION_MS);
  return {
    deadLetters,
    messages: kafkaStoredMessages(kafka, topic, group),
    subscribe: (intake, onLost = () => {}) => new KafkaSubscription({ kafka, config, topic, groupId: group, intake, onLost, log }),
    async stop() {
      clearInterval(keeping);
      await Promise.all([deadLetterPublisher.stop(), replayPublisher.stop()]);
    },
  };
}
