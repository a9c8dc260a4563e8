import { AppError } from "@brand-records/errors";

/** A message of the log. Messages with the same key keep their order; messages with different keys have none. */
export interface LogMessage {
  readonly key: string;
  readonly value: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** A message as received, with its position in the log, such as `brand.events/3@42`. */
export interface ReceivedMessage extends LogMessage {
  readonly position: string;
}

export interface DeadLetter {
  readonly message: ReceivedMessage;
  /** Text for people; contains nothing from the message's value. */
  readonly reason: string;
}

/** Keeps messages that cannot be processed, so that they block nothing and are not lost. */
export interface DeadLetters {
  /** Resolves when all are stored. A dead letter may be stored twice. */
  put(deadLetters: readonly DeadLetter[]): Promise<void>;
  /** Returns the oldest `limit`, and the number of all. */
  list(limit: number): Promise<{ readonly deadLetters: readonly DeadLetterSummary[]; readonly total: number }>;
  /** Returns the number of all; without Kafka at most 10,000, so that counting stays cheap. */
  count(): Promise<number>;
  /**
   * Publishes the current dead letters again and removes them from the list. After an interruption the next call continues. The
   * caller must prevent concurrent replays: they publish twice.
   *
   * @returns how many were published
   */
  replay(): Promise<number>;
  /**
   * Removes dead letters for good. All others that were not replayed stay. After an interruption the next call continues. The caller
   * must prevent a concurrent replay.
   *
   * @returns how many were removed
   * @throws AppError `permission_required` if the log refuses
   */
  remove(isRemoved: (letter: ReceivedMessage) => boolean): Promise<number>;
}

/** A place in a partition of the log: before the message with this offset. */
export interface LogPosition {
  readonly partition: number;
  readonly offset: number;
}

/** A group of readers that has not read every message. */
export interface ReaderBehind {
  readonly group: string;
  readonly messages: number;
  readonly isOwn: boolean;
}

export interface Removal {
  readonly isDone: boolean;
  /** They keep the messages from being removed. */
  readonly behind: readonly ReaderBehind[];
  /** Why the log refuses, in its words. */
  readonly refused?: string;
  /** RFC 3339: when retention has removed every message that is stored now. */
  readonly keptUntil?: string | undefined;
}

export interface LogEnd {
  readonly positions: readonly LogPosition[];
  /** State as of a removal. */
  readonly keptUntil?: string | undefined;
}

/** What the log keeps after it was read. */
export interface StoredMessages {
  /** Returns where the log ends, by partition. None: it stores nothing. */
  end(): Promise<LogEnd>;
  /** Removes the messages before these places for good, once every group of readers has read them. */
  removeBefore(upTo: readonly LogPosition[]): Promise<Removal>;
}

/** A dead letter without its value, which `position` locates. */
export interface DeadLetterSummary {
  readonly position: string;
  readonly reason: string;
  readonly key: string;
  readonly bytes: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly deadLetteredAt: string;
}

/** A message that the log has not acknowledged. Later messages with its key were not stored, either. */
export interface PublishFailure {
  readonly message: LogMessage;
  readonly partition: number;
  /** `partition`: its partition stores nothing at the moment; `too_large`: it is, by itself; `behind`: an earlier message with its key is. */
  readonly reason: "partition" | "too_large" | "behind";
  readonly cause: Error;
}

/** The log has acknowledged all messages but these. */
export class PartlyPublished extends Error {
  override readonly name = "PartlyPublished";

  readonly failures: readonly PublishFailure[];
  /** When partitions are tried again: until then what is for them fails at once. */
  readonly retryMs: number;

  constructor(failures: readonly PublishFailure[], retryMs: number) {
    const [first] = failures;
    super(`messages not published: ${failures.length}; first cause: ${first?.cause.message}`, { cause: first?.cause });
    this.failures = failures;
    this.retryMs = retryMs;
  }
}

export interface Publisher {
  /**
   * Resolves once the log has stored all messages, in order by key.
   *
   * @throws PartlyPublished if the log has stored all others. After any other error, some may be in the log: publish all again, in the
   *   same order; readers recognise an event by its id.
   */
  publish(messages: readonly LogMessage[]): Promise<void>;
  /** Whether it is connected and the log takes messages, as far as it knows: false while no partition does. */
  isReady(): boolean;
  stop(): Promise<void>;
}

/** Some messages could not be processed, for a reason that concerns no others: those were. */
export class UnprocessedMessages extends AppError {
  readonly messages: readonly ReceivedMessage[];

  constructor(messages: readonly ReceivedMessage[], cause: unknown) {
    const { kind, message, dependency } = AppError.from(cause);
    super(kind, message, { cause, dependency });
    this.messages = messages;
  }
}

/**
 * Processes messages in order. Messages it resolved for come again only after an interruption. If it rejects, the same messages come
 * again after a pause, or those of UnprocessedMessages only.
 */
export type Intake = (messages: readonly ReceivedMessage[]) => Promise<void>;

export interface Lag {
  readonly messages: number;
  /** Messages that the log removed before they were processed, and that the readers have not passed over yet. */
  readonly removed: number;
}

/**
 * Messages can no longer be read, and the readers have passed over them. Called once for each place, whatever restarts.
 *
 * @param messages how many the log removed; undefined if it was made again, which it is read from its beginning for
 */
export type OnLost = (messages: number | undefined) => void;

/** The reading end while it runs: connects and reconnects automatically. */
export interface Subscription {
  /** Whether it is connected and, unless other readers hold every partition, reading. */
  isReady(): boolean;
  lag(): Promise<Lag | undefined>;
  /** Resolves after the messages in progress are processed. */
  stop(): Promise<void>;
}
