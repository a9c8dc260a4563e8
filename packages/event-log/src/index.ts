export { postgresDeadLetters } from "./direct/postgres-dead-letters.ts";
export { directPublisher } from "./direct/publisher.ts";
export type {
  DeadLetter,
  DeadLetters,
  Intake,
  LogMessage,
  Publisher,
  ReceivedMessage,
  DeadLetterSummary,
  Subscription,
} from "./event-log.ts";
export { openKafkaPublisher, openKafkaReader, type KafkaReader } from "./kafka/kafka-log.ts";
export { eventLogSettings, type EventLogConfig } from "./settings.ts";
