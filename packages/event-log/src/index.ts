export { postgresDeadLetters } from "./direct/postgres-dead-letters.ts";
export { directPublisher } from "./direct/publisher.ts";
export type {
  DeadLetter,
  DeadLetters,
  DeadLetterSummary,
  Intake,
  LogMessage,
  Publisher,
  ReceivedMessage,
  Subscription,
} from "./event-log.ts";
export { openKafkaPublisher, openKafkaReader } from "./kafka/kafka-log.ts";
export { eventLogSettings, type EventLogConfig } from "./settings.ts";
