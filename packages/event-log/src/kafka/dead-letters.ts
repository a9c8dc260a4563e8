import { randomUUID } from "node:crypto";
import { AppError } from "@brand-records/errors";
import type { Logger } from "@brand-records/telemetry";
import type { Admin, Consumer, EachBatchPayload, Kafka } from "kafkajs";
import {
  PartlyPublished,
  type DeadLetter,
  type DeadLetters,
  type DeadLetterSummary,
  type LogMessage,
  type Publisher,
  type PublishFailure,
  type ReceivedMessage,
} from "../event-log.ts";
import { disconnect } from "./open-kafka.ts";
import { orUnavailable, refusalIn } from "./errors.ts";
import { offsetOf, receivedFrom } from "./received-message.ts";
import { deadLetterTopicOf, withAdmin } from "./topics.ts";

/** The only partition of the dead-letter topic: dead letters are few, and are listed and replayed in order. */
const PARTITION = 0;
const REASON = "dead-reason";
const POSITION = "dead-position";
const AT = "dead-at";
/** The original length of a value that was too large for the topic and was cut. */
const CUT_FROM = "dead-cut-from";
/** A cut value is halved until the topic takes it. */
const CUT_BYTES_MAX = 256 * 1024;
const READ_MS = 30_000;

interface KafkaDeadLettersOptions {
  readonly kafka: Kafka;
  readonly topic: string;
  /** The offsets of the group `<groupId>.dead` record what has been replayed. */
  readonly groupId: string;
  readonly deadLetterPublisher: Publisher;
  /** Publishes replayed messages to the topic itself. */
  readonly replayPublisher: Publisher;
  readonly log: Logger;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Keeps dead letters in a second topic. A replay deletes nothing, it commits its offset; Kafka deletes after the retention time. */
export class KafkaDeadLetters implements DeadLetters {
  readonly #options: KafkaDeadLettersOptions;
  readonly #topic: string;
  readonly #replayGroup: string;

  constructor(options: KafkaDeadLettersOptions) {
    this.#options = options;
    this.#topic = deadLetterTopicOf(options.topic);
    this.#replayGroup = `${options.groupId}.dead`;
  }

  async put(deadLetters: readonly DeadLetter[]): Promise<void> {
    const at = new Date().toISOString();
    const messages = deadLetters.map(({ message: { key, value, headers, position }, reason }) => ({
      key,
      value,
      headers: { ...headers, [REASON]: reason, [POSITION]: position, [AT]: at },
    }));
    await this.#publish(messages);
  }

  /** Cuts messages that are too large for the topic: otherwise they would block everything behind them. */
  async #publish(messages: readonly LogMessage[]): Promise<void> {
    try {
      await this.#options.deadLetterPublisher.publish(messages);
    } catch (error) {
      if (!(error instanceof PartlyPublished) || !error.failures.some(isCuttable)) throw error;
      await this.#publish(error.failures.map((failure) => (isCuttable(failure) ? cut(failure.message) : failure.message)));
    }
  }

  async list(limit: number): Promise<{ deadLetters: DeadLetterSummary[]; total: number }> {
    return orUnavailable(async () => {
      const { from, to } = await this.#notReplayed();
      const deadLetters: DeadLetterSummary[] = [];
      const until = Math.min(to, from + limit);
      // A group with a unique name: listing must not join the replay.
      await this.#read(`${this.#replayGroup}.list.${randomUUID()}`, { from, to: until }, async (messages) => {
        deadLetters.push(...messages.map(summaryOf));
      });
      return { deadLetters: deadLetters.slice(0, limit), total: to - from };
    });
  }

  async count(): Promise<number> {
    return orUnavailable(async () => {
      const { from, to } = await this.#notReplayed();
      return to - from;
    });
  }

  async replay(): Promise<number> {
    return orUnavailable(async () => {
      const range = await this.#notReplayed();
      let replayed = 0;
      await this.#read(this.#replayGroup, range, async (messages, consumer) => {
        await this.#options.replayPublisher.publish(messages.map(originalOf));
        replayed += messages.length;
        const next = offsetOf(messages.at(-1) as ReceivedMessage) + 1;
        await consumer.commitOffsets([{ topic: this.#topic, partition: PARTITION, offset: String(next) }]);
      });
      if (replayed > 0) this.#options.log.info({ replayed }, "dead letters replayed");
      return replayed;
    });
  }

  async remove(isRemoved: (letter: ReceivedMessage) => boolean): Promise<number> {
    return orUnavailable(async () => {
      const { stored, notReplayed } = await this.#ranges();
      const readOnce = (range: Range, take: (messages: ReceivedMessage[]) => Promise<void>): Promise<void> =>
        this.#read(`${this.#replayGroup}.remove.${randomUUID()}`, range, take);
      let removed = 0;
      await readOnce(stored, async (messages) => void (removed += messages.filter(isRemoved).length));
      if (removed === 0) return 0;
      // Removes nothing: a broker that refuses does so before anything is written.
      await this.#removeBefore(stored.from);
      // A topic loses its messages from the beginning only. So those to keep go to its end first: an interruption leaves some twice.
      await readOnce(notReplayed, (messages) => this.#options.deadLetterPublisher.publish(messages.filter((each) => !isRemoved(each))));
      await this.#removeBefore(stored.to);
      this.#options.log.info({ removed }, "dead letters removed");
      return removed;
    });
  }

  async #removeBefore(offset: number): Promise<void> {
    try {
      await withAdmin(this.#options.kafka, async (admin) => {
        // Else the client does not know the topic's leaders.
        await admin.fetchTopicOffsets(this.#topic);
        await admin.deleteTopicRecords({ topic: this.#topic, partitions: [{ partition: PARTITION, offset: String(offset) }] });
      });
    } catch (error) {
      const refused = refusalIn(error);
      throw refused === undefined ? error : new AppError("permission_required", `${this.#topic}: ${refused}`, { cause: error });
    }
  }

  /** Commits the replay offset again: brokers delete the offsets of a group without members, by default after a week. */
  async keepPosition(): Promise<void> {
    await withAdmin(this.#options.kafka, async (admin) => {
      const [group] = await admin.fetchOffsets({ groupId: this.#replayGroup, topics: [this.#topic] });
      const known = group?.partitions.filter(({ offset }) => Number(offset) >= 0) ?? [];
      if (known.length > 0) await admin.setOffsets({ groupId: this.#replayGroup, topic: this.#topic, partitions: known });
    });
  }

  async #notReplayed(): Promise<Range> {
    return (await this.#ranges()).notReplayed;
  }

  #ranges(): Promise<{ readonly stored: Range; readonly notReplayed: Range }> {
    return withAdmin(this.#options.kafka, async (admin: Admin) => {
      const exists = (await admin.listTopics()).includes(this.#topic);
      if (!exists) return { stored: { from: 0, to: 0 }, notReplayed: { from: 0, to: 0 } };
      const [[ends], [group]] = await Promise.all([
        admin.fetchTopicOffsets(this.#topic),
        admin.fetchOffsets({ groupId: this.#replayGroup, topics: [this.#topic] }),
      ]);
      const committed = Number(group?.partitions.find(({ partition }) => partition === PARTITION)?.offset ?? -1);
      const stored = { from: Number(ends?.low ?? 0), to: Number(ends?.high ?? 0) };
      return { stored, notReplayed: { from: Math.max(committed, stored.from), to: stored.to } };
    });
  }

  /** Passes the messages of a range to `take`, in batches. */
  async #read(groupId: string, range: Range, take: (messages: ReceivedMessage[], consumer: Consumer) => Promise<void>): Promise<void> {
    if (range.from >= range.to) return;
    const consumer = this.#options.kafka.consumer({
      groupId,
      allowAutoTopicCreation: false,
      retry: { restartOnFailure: async () => false },
    });
    const done = Promise.withResolvers<void>();
    const timeout = setTimeout(
      () =>
        done.reject(
          new AppError("unavailable", "The dead letters could not be read in time. Another replay may be in progress. Try again later.", {
            retryAfterSeconds: 10,
          }),
        ),
      READ_MS,
    );
    consumer.on(consumer.events.CRASH, ({ payload }) => done.reject(payload.error));
    done.promise.catch(() => {});
    const eachBatch = async ({ batch, resolveOffset, heartbeat }: EachBatchPayload): Promise<void> => {
      const messages = batch.messages.map((message) => receivedFrom(this.#topic, PARTITION, message));
      const wanted = messages.filter((message) => offsetOf(message) >= range.from && offsetOf(message) < range.to);
      try {
        if (wanted.length > 0) await take(wanted, consumer);
      } catch (error) {
        done.reject(error);
        return;
      }
      timeout.refresh();
      resolveOffset(batch.lastOffset());
      await heartbeat();
      if (Number(batch.lastOffset()) + 1 >= range.to) done.resolve();
    };
    try {
      await consumer.connect();
      await consumer.subscribe({ topic: this.#topic, fromBeginning: true });
      await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch });
      consumer.seek({ topic: this.#topic, partition: PARTITION, offset: String(range.from) });
      await done.promise;
    } finally {
      clearTimeout(timeout);
      await disconnect(consumer);
    }
  }
}

function originalOf({ key, value, headers }: ReceivedMessage): LogMessage {
  const { [REASON]: _, [POSITION]: __, [AT]: ___, [CUT_FROM]: ____, ...own } = headers;
  return { key, value, headers: own };
}

function summaryOf({ key, value, headers, position }: ReceivedMessage): DeadLetterSummary {
  return {
    position: headers[POSITION] ?? position,
    reason: headers[REASON] ?? "",
    key,
    bytes: Number(headers[CUT_FROM] ?? value.length),
    deadLetteredAt: headers[AT] ?? "",
  };
}

const isCuttable = ({ message, reason }: PublishFailure): boolean => reason === "too_large" && message.value.length > 0;

function cut({ value, headers, ...message }: LogMessage): LogMessage {
  const kept = value.subarray(0, Math.min(CUT_BYTES_MAX, value.length >> 1));
  return { ...message, value: kept, headers: { ...headers, [CUT_FROM]: headers[CUT_FROM] ?? String(value.length) } };
}
