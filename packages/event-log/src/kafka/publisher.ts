import { Mutex } from "@brand-records/lifecycle";
import type { Logger } from "@brand-records/telemetry";
import { Partitioners, type Kafka, type Producer } from "kafkajs";
import type { LogMessage, Publisher } from "../event-log.ts";
import { chunks } from "../chunks.ts";
import type { EventLogConfig } from "../settings.ts";
import { disconnect } from "./open-kafka.ts";
import { ensureTopics } from "./topics.ts";

const ALL_IN_SYNC_REPLICAS = -1;
/** A broker compares a batch with the topic's max.message.bytes, 1 MiB by default. */
const BATCH_BYTES_MAX = 512 * 1024;

/**
 * Writes to one topic. Connects with the first messages and again after every failure, so brokers may be unavailable at the start and
 * at any time later. Sends one request at a time: a repeated message never overtakes a later one.
 */
export class KafkaPublisher implements Publisher {
  readonly #kafka: Kafka;
  readonly #config: EventLogConfig;
  readonly #topic: string;
  readonly #log: Logger;
  readonly #requests = new Mutex();
  #producer: Producer | undefined;

  constructor(kafka: Kafka, config: EventLogConfig, topic: string, log: Logger) {
    this.#kafka = kafka;
    this.#config = config;
    this.#topic = topic;
    this.#log = log;
  }

  publish(messages: readonly LogMessage[]): Promise<void> {
    return this.#requests.run(() => this.#send(messages));
  }

  async #send(messages: readonly LogMessage[]): Promise<void> {
    try {
      const producer = await this.#connected();
      for (const chunk of chunks(messages, BATCH_BYTES_MAX)) {
        const sent = chunk.map(({ key, value, headers }) => ({ key, value, headers: { ...headers } }));
        await producer.send({ topic: this.#topic, acks: ALL_IN_SYNC_REPLICAS, messages: sent });
      }
    } catch (error) {
      // The next attempt starts with fresh connections and fresh metadata.
      await this.#disconnect();
      throw error;
    }
  }

  async #connected(): Promise<Producer> {
    if (this.#producer !== undefined) return this.#producer;
    await ensureTopics(this.#kafka, this.#config, this.#log, this.#topic);
    const producer = this.#kafka.producer({
      allowAutoTopicCreation: false,
      maxInFlightRequests: 1,
      // Hashes the key as Java clients do: Debezium in the relay's place would write a record to the same partition.
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    await producer.connect();
    producer.on(producer.events.DISCONNECT, () => {
      if (this.#producer === producer) this.#producer = undefined;
    });
    this.#producer = producer;
    return producer;
  }

  isReady(): boolean {
    return this.#producer !== undefined;
  }

  async #disconnect(): Promise<void> {
    const producer = this.#producer;
    this.#producer = undefined;
    if (producer !== undefined) await disconnect(producer);
  }

  async stop(): Promise<void> {
    await this.#requests.drain();
    await this.#disconnect();
  }
}
