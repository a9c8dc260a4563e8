/** A message of the log. Messages of one key keep their order; those of different keys have none. */
export interface LogMessage {
  readonly key: string;
  readonly value: Buffer;
  /** Such as `traceparent`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A message as it came, with its place in the log, such as `brand.events/3@42`. */
export interface ReceivedMessage extends LogMessage {
  readonly position: string;
}

/** A message that could not be taken in. */
export interface DeadLetter {
  readonly message: ReceivedMessage;
  /** For people; holds nothing of the message's values. */
  readonly reason: string;
}

/** Where messages that cannot be taken in are set aside, so that they block nothing and are not lost. */
export interface DeadLetters {
  /** Resolves when they are kept. A letter may be put twice. */
  put(letters: readonly DeadLetter[]): Promise<void>;
  /** The oldest `limit`, and how many there are in all. */
  list(limit: number): Promise<{ readonly letters: readonly DeadLetterSummary[]; readonly total: number }>;
  /**
   * Publishes anew what was set aside until now, and forgets it there. Interrupted, it goes on with the next call. One at a
   * time, which is the caller's to see to: two at once publish twice.
   */
  replay(): Promise<number>;
}

/** A dead letter as it is listed: whoever mends its writer finds the value by its position. */
export interface DeadLetterSummary {
  readonly position: string;
  readonly reason: string;
  readonly key: string;
  /** Of its value. */
  readonly bytes: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly deadLetteredAt: string;
}

/** The writing end. */
export interface Publisher {
  /**
   * Resolves once the log keeps them all, in their order by key. Rejected, some may be in the log: publish them again, and
   * in the same order; whoever reads knows an event by its id.
   */
  publish(messages: readonly LogMessage[]): Promise<void>;
  /** Whether it is connected, as far as it knows. */
  isReady(): boolean;
  stop(): Promise<void>;
}

/**
 * Takes in messages in order. What it resolved for never comes again, except after an interruption; when it rejects, the
 * same messages come again after a pause.
 */
export type Intake = (messages: readonly ReceivedMessage[]) => Promise<void>;

/** The reading end, while it runs: it connects by itself, now and after every loss. */
export interface Subscription {
  /** Whether it is connected and, as far as the log has a place for it, reading. */
  isReady(): boolean;
  /** Messages in the log that were not taken in yet; undefined if that cannot be told at the moment. */
  lag(): Promise<number | undefined>;
  /** After the messages under way are taken in. */
  stop(): Promise<void>;
}
