import { setTimeout as pause } from "node:timers/promises";
import { Backoff, Mutex } from "@brand-records/lifecycle";
import type { Logger } from "@brand-records/telemetry";
import type { Kafka } from "kafkajs";
import { bytesOf, chunks } from "../chunks.ts";
import { PartlyPublished, type LogMessage, type PublishFailure, type Publisher } from "../event-log.ts";
import type { EventLogConfig } from "../settings.ts";
import { isTooLarge } from "./partition-errors.ts";
import { ProducerConnection } from "./producer-connection.ts";

/** What a partition gets in one request, if its topic takes as much: a broker compares it with max.message.bytes. */
const BATCH_BYTES_MAX = 512 * 1024;
/** What a batch has in addition to its messages. */
const BATCH_HEADER_BYTES = 61;
/** After this time a topic that takes less is asked again. */
const SMALL_LIMIT_MS_MAX = 60_000;
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 2_000;
/** A pause is at least three times as long as the attempt: a partition whose leader hangs takes a quarter of the time of the others. */
const PAUSE_PER_ATTEMPT = 3;
/** The longest pause within a call: a leader that moves is there within a moment, and so is that of a new topic. */
const WAIT_MS_MAX = 400;
/** Without a failure for so long, the next pause is the shortest again. */
const CALM_MS = 10_000;

/**
 * Writes to one topic. Connects with the first messages and again after every failure, so brokers may be unavailable at the start and
 * at any time later. Sends one request at a time to each leader: a repeated message never overtakes a later one. What a partition does not
 * store fails at once until the partition is tried again, with fresh metadata; the others go on.
 */
export class KafkaPublisher implements Publisher {
  readonly #open: () => Promise<ProducerConnection>;
  readonly #requests = new Mutex();
  #connection: ProducerConnection | undefined;
  #batchBytesMax = BATCH_BYTES_MAX;
  /** On the monotonic clock. */
  #connectAgainAt = Infinity;
  /** Why partitions store nothing. */
  readonly #stuck = new Map<number, Error>();
  readonly #backoff = new Backoff(RETRY_MS_MIN, RETRY_MS_MAX);
  #pauseMs = 0;
  #retryAt = 0;

  constructor(kafka: Kafka, config: EventLogConfig, topic: string, log: Logger) {
    this.#open = () => ProducerConnection.open(kafka, config, log, topic);
  }

  publish(messages: readonly LogMessage[]): Promise<void> {
    return this.#requests.run(() => this.#publish(messages));
  }

  async #publish(messages: readonly LogMessage[]): Promise<void> {
    let failures = await this.#attempt(messages);
    while (failures.length > 0) {
      const again = failures.filter(({ reason }) => reason === "partition").map(({ message }) => message);
      const rejection = new PartlyPublished(failures, Math.max(0, this.#retryAt - performance.now()));
      if (again.length === 0 || this.#pauseMs > WAIT_MS_MAX) throw rejection;
      await pause(rejection.retryMs);
      const others = failures.filter(({ reason }) => reason !== "partition");
      // Whatever happens now, the others were acknowledged.
      const next = await this.#attempt(again).catch(() => Promise.reject(rejection));
      failures = [...others, ...next];
    }
  }

  /** Returns what the brokers have not acknowledged. */
  async #attempt(messages: readonly LogMessage[]): Promise<PublishFailure[]> {
    const connection = await this.#connected();
    const waiting = Map.groupBy(messages, (message) => connection.partitionOf(message));
    const failures: PublishFailure[] = [];
    while (waiting.size > 0) {
      for (const [partition, cause] of this.#stuck) {
        for (const message of waiting.get(partition) ?? []) failures.push({ message, partition, reason: "partition", cause });
        waiting.delete(partition);
      }
      failures.push(...(await this.#sendFirst(connection, waiting)));
    }
    return failures;
  }

  /** Sends the first batch of each partition. Leaves in `waiting` what is not settled by that. Returns what is too large. */
  async #sendFirst(connection: ProducerConnection, waiting: Map<number, LogMessage[]>): Promise<PublishFailure[]> {
    const startedAt = performance.now();
    const batches = new Map([...waiting].map(([partition, messages]) => [partition, firstOf(messages, this.#batchBytesMax)]));
    const errors = await connection.send(batches);
    const stuck = [...errors].filter(([, cause]) => !isTooLarge(cause));
    for (const [partition, cause] of stuck) this.#stuck.set(partition, cause);
    if (stuck.length > 0) this.#retryLater(performance.now() - startedAt, connection.partitionCount);
    const failures: PublishFailure[] = [];
    for (const [partition, batch] of batches) {
      const messages = waiting.get(partition) ?? [];
      const cause = errors.get(partition);
      if (this.#stuck.has(partition)) continue;
      if (cause === undefined) waiting.set(partition, messages.slice(batch.length));
      else if (batch.length > 1) this.#limit(batch.reduce((bytes, message) => bytes + bytesOf(message), 0) / 2);
      else {
        const refused = messages.filter(({ key }) => key === batch[0]?.key);
        for (const message of refused) {
          failures.push({ message, partition, reason: message === refused[0] ? "too_large" : "behind", cause });
        }
        const others = messages.filter((message) => !refused.includes(message));
        waiting.set(partition, others);
      }
      if (waiting.get(partition)?.length === 0) waiting.delete(partition);
    }
    return failures;
  }

  #retryLater(attemptMs: number, partitions: number): void {
    const now = performance.now();
    if (now - this.#retryAt > CALM_MS) this.#backoff.reset();
    const othersMs = this.#stuck.size < partitions ? PAUSE_PER_ATTEMPT * attemptMs : 0;
    this.#pauseMs = Math.max(this.#backoff.next(), othersMs);
    this.#retryAt = now + this.#pauseMs;
  }

  #limit(batchBytesMax: number): void {
    this.#batchBytesMax = Math.min(this.#batchBytesMax, batchBytesMax);
    if (this.#batchBytesMax < BATCH_BYTES_MAX) this.#connectAgainAt = performance.now() + SMALL_LIMIT_MS_MAX;
  }

  async #connected(): Promise<ProducerConnection> {
    const now = performance.now();
    if (now >= this.#connectAgainAt || (this.#stuck.size > 0 && now >= this.#retryAt)) await this.#disconnect();
    if (this.#connection !== undefined) return this.#connection;
    this.#connection = await this.#open();
    this.#stuck.clear();
    this.#batchBytesMax = BATCH_BYTES_MAX;
    this.#connectAgainAt = Infinity;
    this.#limit((this.#connection.batchBytesMax ?? Infinity) - BATCH_HEADER_BYTES);
    return this.#connection;
  }

  isReady(): boolean {
    return this.#connection?.mayStore(this.#stuck) ?? false;
  }

  async #disconnect(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close();
  }

  async stop(): Promise<void> {
    await this.#requests.drain();
    await this.#disconnect();
  }
}

const firstOf = (messages: readonly LogMessage[], bytesMax: number): readonly LogMessage[] => chunks(messages, bytesMax).next().value ?? [];
