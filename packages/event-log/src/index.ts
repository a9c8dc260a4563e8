export { postgresDeadLetters } from "./direct/postgres-dead-letters.ts";
export { directPublisher } from "./direct/publisher.ts";
export { noStoredMessages } from "./direct/stored-messages.ts";
export { PartlyPublished, UnprocessedMessages } from "./event-log.ts";
export type {
  DeadLetter,
  DeadLetters,
  DeadLetterSummary,
  Intake,
  Lag,
  LogMessage,
  LogPosition,
  OnLost,
  Publisher,
  PublishFailure,
  ReceivedMessage,
  StoredMessages,
  Subscription,
} from "./event-log.ts";
export { openKafkaPublisher, openKafkaReader, rewindReaders, type CutPartition, type Rewound } from "./kafka/lazy.ts";
export { eventLogSettings, type EventLogConfig } from "./settings.ts";
export { tracedIntake, tracedPublisher } from "./traced.ts";
