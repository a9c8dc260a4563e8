import { setTimeout as pause } from "node:timers/promises";
import { Backoff, withTimeout } from "@brand-records/lifecycle";
import type { Logger } from "@brand-records/telemetry";
import type { EachBatchPayload, Kafka } from "kafkajs";
import type { Intake, Lag, OnLost, Subscription } from "../event-log.ts";
import type { EventLogConfig } from "../settings.ts";
import { refusedIn, type RefusedOffset } from "./group-offsets.ts";
import { HEARTBEAT_MS, JointBatches, PORTION_MAX } from "./joint-batches.ts";
import { RETRY_MS_MAX, RETRY_MS_MIN } from "./offset-commits.ts";
import { ofPartitionsWithLeader } from "./partition-errors.ts";
import { disconnect } from "./open-kafka.ts";
import { receivedFrom } from "./received-message.ts";
import { ensureTopics, withAdmin } from "./topics.ts";

/** The brokers give the partitions of a member that sends nothing for this long to others. */
const SESSION_MS = 10_000;
const REBALANCE_MS = 30_000;
/** How long a broker may wait for messages; it responds immediately when it has some. A longer wait delays a stop. */
const FETCH_WAIT_MS = 300;
const FETCH_BYTES_PER_PARTITION = 1024 * 1024;
/** A partition that has a leader again is read after this time at the latest. By default kafkajs looks every five minutes. */
const METADATA_MS = 5_000;
/** A consumer that has neither fetched nor processed anything for this long hangs and is replaced. */
const SILENCE_MS = 60_000;
/** kafkajs reports that a consumer has stopped before it reports why. */
const REASON_MS = 1_000;
const WATCH_EVERY_MS = 1_000;
const STOP_MS = 5_000;
const SETTLE_MS = 2_000;

interface SubscriptionOptions {
  readonly kafka: Kafka;
  readonly config: EventLogConfig;
  readonly topic: string;
  readonly groupId: string;
  readonly intake: Intake;
  readonly onLost: OnLost;
  readonly log: Logger;
}

/** Reads a topic as a member of a group until stopped. kafkajs gives up after a crash or without a broker; this reconnects. */
export class KafkaSubscription implements Subscription {
  readonly #options: SubscriptionOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  /** When the current consumer last showed activity, in milliseconds since the epoch. */
  #lastActivity = 0;
  #joined = false;
  /** How often this member has joined the group. Partitions may move each time. */
  #joins = 0;
  /** As of the last look. */
  #removed = 0;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  isReady(): boolean {
    return this.#joined && Date.now() - this.#lastActivity < SESSION_MS;
  }

  async lag(): Promise<Lag | undefined> {
    if (!this.isReady()) return undefined;
    const { kafka, topic, groupId } = this.#options;
    return withAdmin(kafka, async (admin) => {
      // The order matters: messages processed between the two reads would otherwise give a lag below zero.
      const [committed] = await admin.fetchOffsets({ groupId, topics: [topic] });
      const ends = await ofPartitionsWithLeader(() => admin.fetchTopicOffsets(topic));
      const done = new Map(committed?.partitions.map(({ partition, offset }) => [partition, Math.max(Number(offset), 0)]));
      let [messages, removed] = [0, 0];
      for (const { partition, low, high } of ends) {
        const next = done.get(partition) ?? 0;
        messages += Number(high) - Math.max(next, Number(low));
        removed += Math.max(Number(low) - next, 0);
      }
      this.#reportRemoved(removed);
      return { messages, removed };
    });
  }

  /** The readers report a loss when they come to it. Until then, as while the database is away, this does, whenever there is more. */
  #reportRemoved(removed: number): void {
    const { topic, log } = this.#options;
    if (removed > this.#removed) log.error({ topic, messages: removed }, "the log removes messages before they are read");
    this.#removed = removed;
  }

  /** Warns if the group has no offset. Brokers delete a group's offsets with its topic: what was unread in it cannot be counted. */
  async #reportBeginning(): Promise<void> {
    const { kafka, topic, groupId, log } = this.#options;
    const [committed] = await withAdmin(kafka, (admin) => admin.fetchOffsets({ groupId, topics: [topic] }));
    if (committed?.partitions.every(({ offset }) => Number(offset) < 0) === true)
      log.warn({ topic, group: groupId }, "brokers have no offset of this group: the log is read from its beginning");
  }

  #reportLost({ partition, refused, low, high }: RefusedOffset): void {
    const { topic, onLost, log } = this.#options;
    const messages = refused < low ? low - refused : undefined;
    const fields = { topic, partition, offset: refused, begins_at: low, ends_at: high };
    if (messages !== undefined) log.error({ ...fields, messages }, "messages lost: the log removed them before they were read");
    else log.error(fields, "the log was made again, or has lost its end: it is read from its beginning");
    onLost(messages);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { log, topic } = this.#options;
    const backoff = new Backoff(RETRY_MS_MIN, RETRY_MS_MAX);
    while (!this.#stopping.signal.aborted) {
      const startedAt = Date.now();
      const failure = await this.#consume().then(
        () => undefined,
        (err: unknown) => ({ err }),
      );
      this.#joined = false;
      // After a consumer that worked for a while, the next pause is short again.
      if (Date.now() - startedAt > SILENCE_MS) backoff.reset();
      const retryMs = backoff.next();
      if (failure !== undefined) log.warn({ ...failure, topic, retry_in_ms: retryMs }, "event log unavailable");
      await pause(retryMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
    }
  }

  async #consume(): Promise<void> {
    const { kafka, config, topic, groupId, intake, log } = this.#options;
    await ensureTopics(kafka, config, log);
    // A new cluster has no coordinator of groups at first.
    await this.#reportBeginning().catch((err: unknown) => log.debug({ err }, "offsets could not be read"));
    const consumer = kafka.consumer({
      groupId,
      sessionTimeout: SESSION_MS,
      heartbeatInterval: HEARTBEAT_MS,
      rebalanceTimeout: REBALANCE_MS,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      maxBytesPerPartition: FETCH_BYTES_PER_PARTITION,
      metadataMaxAge: METADATA_MS,
      allowAutoTopicCreation: false,
      retry: { restartOnFailure: async () => false },
    });
    const ended = Promise.withResolvers<void>();
    const noteActivity = (): void => void (this.#lastActivity = Date.now());
    consumer.on(consumer.events.CRASH, ({ payload }) => ended.reject(payload.error));
    consumer.on(consumer.events.STOP, () => {
      setTimeout(() => ended.reject(new Error("the consumer stopped unexpectedly")), REASON_MS).unref();
    });
    for (const event of [consumer.events.FETCH, consumer.events.HEARTBEAT] as const) consumer.on(event, noteActivity);
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      noteActivity();
      this.#joins += 1;
      if (!this.#joined) log.info({ topic, groupId, partitions: payload.memberAssignment[topic]?.length ?? 0 }, "reading the event log");
      this.#joined = true;
    });
    consumer.on(consumer.events.COMMIT_OFFSETS, (event) => {
      for (const refused of refusedIn(event)) {
        joint.forget(refused.partition);
        this.#reportLost(refused);
      }
    });
    const watchdog = setInterval(() => {
      if (Date.now() - this.#lastActivity > SILENCE_MS) ended.reject(new Error(`the consumer was silent for ${SILENCE_MS / 1_000} s`));
    }, WATCH_EVERY_MS);
    const onStop = (): void => ended.resolve();
    this.#stopping.signal.addEventListener("abort", onStop);
    // A crash before the await below must not be an unhandled rejection.
    ended.promise.catch(() => {});
    noteActivity();
    const joint = new JointBatches({
      intake,
      commit: (offsets) => consumer.commitOffsets(offsets),
      onActivity: noteActivity,
      log,
    });
    try {
      await consumer.connect();
      await consumer.subscribe({ topic, fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        // All that a fetch brings at the same time, so that it can be processed together.
        partitionsConsumedConcurrently: config.KAFKA_PARTITIONS,
        eachBatch: (batch) => {
          const joins = this.#joins;
          return processBatch(batch, joint, () => this.#joins === joins);
        },
      });
      await ended.promise;
    } finally {
      clearInterval(watchdog);
      this.#stopping.signal.removeEventListener("abort", onStop);
      // What takes longer commits nothing, and is processed again.
      await withTimeout(joint.stop(), SETTLE_MS);
      await disconnect(consumer, STOP_MS);
    }
  }
}

/** @param isMember whether the member has not joined the group again since the batch was handed over, which kafkajs does not say */
async function processBatch(
  { batch, isRunning, isStale, heartbeat, resolveOffset, pause }: EachBatchPayload,
  joint: JointBatches,
  isMember: () => boolean,
): Promise<void> {
  const { topic, partition } = batch;
  for (let at = 0; at < batch.messages.length; at += PORTION_MAX) {
    const messages = batch.messages.slice(at, at + PORTION_MAX);
    const last = messages.at(-1);
    if (last === undefined) return;
    const isProcessed = await joint.process({
      messages: messages.map((message) => receivedFrom(topic, partition, message)),
      next: { topic, partition, offset: String(BigInt(last.offset) + 1n) },
      isOurs: () => isRunning() && !isStale() && isMember(),
      heartbeat,
      resolve: () => resolveOffset(last.offset),
      pause,
    });
    if (!isProcessed) return;
    await heartbeat();
  }
}
