import { randomUUID } from "node:crypto";
import { types } from "node:util";
import { AppError } from "@brand-records/errors";
import type { Logger } from "@brand-records/telemetry";
import type { Admin, Consumer, EachBatchPayload, Kafka } from "kafkajs";
import type { DeadLetter, DeadLetters, LogMessage, Publisher, ReceivedMessage, DeadLetterSummary } from "../event-log.ts";
import { disconnect } from "./open-kafka.ts";
import { receivedFrom } from "./subscription.ts";
import { deadTopicOf, withAdmin } from "./topics.ts";

/** The topic of dead letters has one: they are few, and are listed and replayed in their order. */
const PARTITION = 0;
const REASON = "dead-reason";
const POSITION = "dead-position";
const AT = "dead-at";
/** Of a value the topic did not take whole: how long it was. */
const CUT_FROM = "dead-cut-from";
/** Fits wherever a batch of ours does. */
const CUT_BYTES = 256 * 1024;
const READ_MS = 30_000;

export interface KafkaDeadLettersOptions {
  readonly kafka: Kafka;
  readonly topic: string;
  /** How far they were replayed is remembered as offsets of the group `<groupId>.dead`. */
  readonly groupId: string;
  /** Writes to the topic of dead letters. */
  readonly aside: Publisher;
  /** Writes to the topic itself. */
  readonly back: Publisher;
  readonly log: Logger;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** A topic beside the topic. Replaying does not delete: Kafka does in its time. It remembers how far it came. */
export class KafkaDeadLetters implements DeadLetters {
  readonly #options: KafkaDeadLettersOptions;
  readonly #topic: string;
  readonly #replayGroup: string;

  constructor(options: KafkaDeadLettersOptions) {
    this.#options = options;
    this.#topic = deadTopicOf(options.topic);
    this.#replayGroup = `${options.groupId}.dead`;
  }

  async put(letters: readonly DeadLetter[]): Promise<void> {
    const at = new Date().toISOString();
    const messages = letters.map(({ message: { key, value, headers, position }, reason }) => ({
      key,
      value,
      headers: { ...headers, [REASON]: reason, [POSITION]: position, [AT]: at },
    }));
    try {
      await this.#options.aside.publish(messages);
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      // One by one: which of them it is, the broker does not say.
      for (const message of messages) await this.#putCut(message);
    }
  }

  /** What the topic does not take whole is kept in part: without it, nothing behind it would ever come through. */
  async #putCut(message: LogMessage): Promise<void> {
    try {
      await this.#options.aside.publish([message]);
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      const headers = { ...message.headers, [CUT_FROM]: String(message.value.length) };
      await this.#options.aside.publish([{ ...message, value: message.value.subarray(0, CUT_BYTES), headers }]);
    }
  }

  async list(limit: number): Promise<{ letters: DeadLetterSummary[]; total: number }> {
    return orUnavailable(async () => {
      const { from, to } = await this.#notReplayed();
      const letters: DeadLetterSummary[] = [];
      const until = Math.min(to, from + limit);
      // A group of its own, which nobody knows: reading is nobody's business but ours.
      await this.#read(`${this.#replayGroup}.list.${randomUUID()}`, { from, to: until }, async (messages) => {
        letters.push(...messages.map(letterFrom));
      });
      return { letters: letters.slice(0, limit), total: to - from };
    });
  }

  async replay(): Promise<number> {
    return orUnavailable(async () => {
      const range = await this.#notReplayed();
      let replayed = 0;
      await this.#read(this.#replayGroup, range, async (messages, consumer) => {
        await this.#options.back.publish(messages.map((message) => originalOf(message)));
        replayed += messages.length;
        const next = offsetOf(messages.at(-1) as ReceivedMessage) + 1;
        await consumer.commitOffsets([{ topic: this.#topic, partition: PARTITION, offset: String(next) }]);
      });
      if (replayed > 0) this.#options.log.info({ replayed }, "dead letters replayed");
      return replayed;
    });
  }

  /** Brokers forget the offsets of a group without members after a while, a week by default: they are told again. */
  async keepPosition(): Promise<void> {
    await withAdmin(this.#options.kafka, async (admin) => {
      const [group] = await admin.fetchOffsets({ groupId: this.#replayGroup, topics: [this.#topic] });
      const known = group?.partitions.filter(({ offset }) => Number(offset) >= 0) ?? [];
      if (known.length > 0) await admin.setOffsets({ groupId: this.#replayGroup, topic: this.#topic, partitions: known });
    });
  }

  #notReplayed(): Promise<Range> {
    return withAdmin(this.#options.kafka, async (admin: Admin) => {
      const there = (await admin.listTopics()).includes(this.#topic);
      if (!there) return { from: 0, to: 0 };
      const [[ends], [group]] = await Promise.all([
        admin.fetchTopicOffsets(this.#topic),
        admin.fetchOffsets({ groupId: this.#replayGroup, topics: [this.#topic] }),
      ]);
      const committed = Number(group?.partitions.find(({ partition }) => partition === PARTITION)?.offset ?? -1);
      return { from: Math.max(committed, Number(ends?.low ?? 0)), to: Number(ends?.high ?? 0) };
    });
  }

  /** Hands over the messages of a range, in batches. */
  async #read(groupId: string, range: Range, take: (messages: ReceivedMessage[], consumer: Consumer) => Promise<void>): Promise<void> {
    if (range.from >= range.to) return;
    const consumer = this.#options.kafka.consumer({
      groupId,
      allowAutoTopicCreation: false,
      retry: { restartOnFailure: async () => false },
    });
    const done = Promise.withResolvers<void>();
    const tooLong = setTimeout(
      () =>
        done.reject(
          new AppError(
            "unavailable",
            "The dead letters could not be read in time. Perhaps they are being replayed elsewhere; try again later.",
            { retryAfterSeconds: 10 },
          ),
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
      tooLong.refresh();
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
      clearTimeout(tooLong);
      await disconnect(consumer);
    }
  }
}

const offsetOf = ({ position }: ReceivedMessage): number => Number(position.slice(position.lastIndexOf("@") + 1));

function originalOf({ key, value, headers }: ReceivedMessage): LogMessage {
  const { [REASON]: _, [POSITION]: __, [AT]: ___, [CUT_FROM]: ____, ...own } = headers;
  return { key, value, headers: own };
}

function letterFrom({ key, value, headers, position }: ReceivedMessage): DeadLetterSummary {
  return {
    position: headers[POSITION] ?? position,
    reason: headers[REASON] ?? "",
    key,
    bytes: Number(headers[CUT_FROM] ?? value.length),
    deadLetteredAt: headers[AT] ?? "",
  };
}

function isTooLarge(error: unknown): boolean {
  if (!types.isNativeError(error)) return false;
  return ("type" in error && error.type === "MESSAGE_TOO_LARGE") || isTooLarge(error.cause);
}

/** What kafkajs throws says nothing to who asks over gRPC. */
async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("unavailable", "The event log cannot be reached at the moment. Try again.", { cause: error, retryAfterSeconds: 5 });
  }
}
