import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "@brand-records/telemetry";
import type { Consumer, EachBatchPayload, IHeaders, Kafka, KafkaMessage } from "kafkajs";
import type { Intake, ReceivedMessage, Subscription } from "../event-log.ts";
import type { EventLogConfig } from "../settings.ts";
import { disconnect } from "./open-kafka.ts";
import { ensureTopics, withAdmin } from "./topics.ts";

/** Messages taken in at once, and offsets committed after. */
const BATCH_MAX = 500;
/** A member that says nothing for so long is dead, and its partitions are given to others. */
const SESSION_MS = 10_000;
const HEARTBEAT_MS = 2_000;
const REBALANCE_MS = 30_000;
/** How long a broker may wait for messages to come; it answers at once when there are some. A longer wait delays a stop. */
const FETCH_WAIT_MS = 300;
const FETCH_BYTES_PER_PARTITION = 1024 * 1024;
/** A consumer that has neither fetched nor taken anything in for so long hangs: it is replaced. */
const SILENCE_MS = 60_000;
/** kafkajs tells that a consumer has stopped before it tells why. */
const REASON_MS = 1_000;
const WATCH_EVERY_MS = 1_000;
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 2_000;
const STOP_MS = 5_000;

export interface SubscriptionOptions {
  readonly kafka: Kafka;
  readonly config: EventLogConfig;
  readonly topic: string;
  readonly groupId: string;
  readonly intake: Intake;
  readonly log: Logger;
}

/** Reads a topic as a member of a group, for ever: kafkajs gives up on a crash or a broker that is away; this does not. */
export class KafkaSubscription implements Subscription {
  readonly #options: SubscriptionOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  /** Of the consumer that runs now; milliseconds since the epoch. */
  #lastSign = 0;
  #joined = false;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  isReady(): boolean {
    return this.#joined && Date.now() - this.#lastSign < SESSION_MS;
  }

  async lag(): Promise<number | undefined> {
    if (!this.isReady()) return undefined;
    const { kafka, topic, groupId } = this.#options;
    return withAdmin(kafka, async (admin) => {
      const [ends, [committed]] = await Promise.all([admin.fetchTopicOffsets(topic), admin.fetchOffsets({ groupId, topics: [topic] })]);
      const done = new Map(committed?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
      const behind = ends.map(({ partition, low, high }) => Number(high) - Math.max(done.get(partition) ?? -1, Number(low)));
      return behind.reduce((sum, messages) => sum + messages, 0);
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { log, topic } = this.#options;
    let retryMs = RETRY_MS_MIN;
    while (!this.#stopping.signal.aborted) {
      const startedAt = Date.now();
      try {
        await this.#consume();
      } catch (error) {
        log.warn({ err: error, topic, retry_in_ms: retryMs }, "the event log cannot be read");
      }
      this.#joined = false;
      // One that ran for a while was well: the next pause is short again.
      if (Date.now() - startedAt > SILENCE_MS) retryMs = RETRY_MS_MIN;
      await pause(retryMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
      retryMs = Math.min(retryMs * 2, RETRY_MS_MAX);
    }
  }

  /** One consumer from its start to its end: stopped, crashed or silent. */
  async #consume(): Promise<void> {
    const { kafka, config, topic, groupId, log } = this.#options;
    await ensureTopics(kafka, config, log);
    const consumer = kafka.consumer({
      groupId,
      sessionTimeout: SESSION_MS,
      heartbeatInterval: HEARTBEAT_MS,
      rebalanceTimeout: REBALANCE_MS,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      maxBytesPerPartition: FETCH_BYTES_PER_PARTITION,
      allowAutoTopicCreation: false,
      retry: { restartOnFailure: async () => false },
    });
    const over = Promise.withResolvers<void>();
    const sign = (): void => void (this.#lastSign = Date.now());
    consumer.on(consumer.events.CRASH, ({ payload }) => over.reject(payload.error));
    consumer.on(consumer.events.STOP, () => {
      setTimeout(() => over.reject(new Error("the consumer stopped by itself")), REASON_MS).unref();
    });
    for (const event of [consumer.events.FETCH, consumer.events.HEARTBEAT] as const) consumer.on(event, sign);
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      sign();
      if (!this.#joined) log.info({ topic, groupId, partitions: payload.memberAssignment[topic]?.length ?? 0 }, "reading the event log");
      this.#joined = true;
    });
    const watchdog = setInterval(() => {
      if (Date.now() - this.#lastSign > SILENCE_MS) over.reject(new Error(`the consumer was silent for ${SILENCE_MS / 1_000} s`));
    }, WATCH_EVERY_MS);
    const onStop = (): void => over.resolve();
    this.#stopping.signal.addEventListener("abort", onStop);
    // A crash before anybody waits for it is no unhandled rejection.
    over.promise.catch(() => {});
    sign();
    try {
      await consumer.connect();
      await consumer.subscribe({ topic, fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: 4,
        eachBatch: (batch) => this.#take(batch, consumer),
      });
      await over.promise;
    } finally {
      clearInterval(watchdog);
      this.#stopping.signal.removeEventListener("abort", onStop);
      await disconnect(consumer, STOP_MS);
    }
  }

  async #take({ batch, isRunning, isStale, heartbeat, resolveOffset }: EachBatchPayload, consumer: Consumer): Promise<void> {
    const { topic, partition } = batch;
    for (let at = 0; at < batch.messages.length; at += BATCH_MAX) {
      const messages = batch.messages.slice(at, at + BATCH_MAX);
      const received = messages.map((message) => receivedFrom(topic, partition, message));
      const taken = await this.#takeIn(received, heartbeat, () => isRunning() && !isStale());
      const last = messages.at(-1);
      if (!taken || last === undefined) return;
      await consumer.commitOffsets([{ topic, partition, offset: String(BigInt(last.offset) + 1n) }]);
      resolveOffset(last.offset);
      await heartbeat();
    }
  }

  /** Until the messages are taken in; false if they are somebody else's by now. */
  async #takeIn(messages: readonly ReceivedMessage[], heartbeat: () => Promise<void>, ours: () => boolean): Promise<boolean> {
    let retryMs = RETRY_MS_MIN;
    while (ours() && !this.#stopping.signal.aborted) {
      this.#lastSign = Date.now();
      try {
        await keepAlive(heartbeat, this.#options.intake(messages));
        return true;
      } catch (error) {
        const [first] = messages;
        this.#options.log.warn(
          { err: error, from: first?.position, messages: messages.length, retry_in_ms: retryMs },
          "messages could not be taken in",
        );
      }
      await pause(retryMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
      await heartbeat();
      retryMs = Math.min(retryMs * 2, RETRY_MS_MAX);
    }
    return false;
  }
}

/** Work that takes longer than a session is no reason to lose the partition. */
async function keepAlive(heartbeat: () => Promise<void>, work: Promise<void>): Promise<void> {
  // If it fails the heartbeat after the work does too, and that one is told.
  const beating = setInterval(() => void heartbeat().catch(() => {}), HEARTBEAT_MS);
  try {
    await work;
  } finally {
    clearInterval(beating);
  }
}

export function receivedFrom(topic: string, partition: number, { key, value, headers, offset }: KafkaMessage): ReceivedMessage {
  return {
    key: key?.toString() ?? "",
    value: value ?? Buffer.alloc(0),
    headers: textsOf(headers),
    position: `${topic}/${partition}@${offset}`,
  };
}

function textsOf(headers: IHeaders | undefined): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers ?? {})) {
    const first = Array.isArray(value) ? value[0] : value;
    // kafkajs gives null for a header without a value, whatever its types say.
    if (first != null) texts[name] = first.toString();
  }
  return texts;
}
