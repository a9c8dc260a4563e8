export { postgresDeadLetters } from "./direct/postgres-dead-letters.ts";
export { directPublisher, noStoredMessages } from "./direct/publisher.ts";
export {
  PartlyPublished,
  UnprocessedMessages,
  type DeadLetter,
  type DeadLetters,
  type DeadLetterSummary,
  type Intake,
  type Lag,
  type LogMessage,
  type LogPosition,
  type OnLost,
  type Publisher,
  type PublishFailure,
  type ReceivedMessage,
  type StoredMessages,
  type Subscription,
} from "./event-log.ts";
export { openKafkaPublisher, openKafkaReader, rewindReaders, type CutPartition, type Rewound } from "./kafka/lazy.ts";
export { eventLogSettings, type EventLogConfig } from "./settings.ts";
export { tracedIntake, tracedPublisher } from "./traced.ts";
