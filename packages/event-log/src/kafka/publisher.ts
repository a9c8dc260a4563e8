import type { Logger } from "@brand-records/telemetry";
import { Partitioners, type Kafka, type Producer } from "kafkajs";
import type { LogMessage, Publisher } from "../event-log.ts";
import { chunks } from "../chunks.ts";
import type { EventLogConfig } from "../settings.ts";
import { disconnect } from "./open-kafka.ts";
import { ensureTopics } from "./topics.ts";

const ALL_IN_SYNC_REPLICAS = -1;
/** A broker measures a batch against the topic's max.message.bytes, which is 1 MiB where nobody has set it. */
const BATCH_BYTES_MAX = 512 * 1024;

/**
 * Writes to one topic. Connects with the first messages and anew after every failure, so brokers may be away at the
 * start, and come and go. One request at a time: what is sent again never overtakes what was sent later.
 */
export class KafkaPublisher implements Publisher {
  readonly #kafka: Kafka;
  readonly #config: EventLogConfig;
  readonly #topic: string;
  readonly #log: Logger;
  #producer: Producer | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(kafka: Kafka, config: EventLogConfig, topic: string, log: Logger) {
    this.#kafka = kafka;
    this.#config = config;
    this.#topic = topic;
    this.#log = log;
  }

  publish(messages: readonly LogMessage[]): Promise<void> {
    const turn = this.#last.then(() => this.#send(messages));
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #send(messages: readonly LogMessage[]): Promise<void> {
    try {
      const producer = await this.#connected();
      for (const part of chunks(messages, BATCH_BYTES_MAX)) {
        const sent = part.map(({ key, value, headers }) => ({ key, value, headers: { ...headers } }));
        await producer.send({ topic: this.#topic, acks: ALL_IN_SYNC_REPLICAS, messages: sent });
      }
    } catch (error) {
      // Whatever it was, the next attempt begins with fresh connections and fresh metadata.
      await this.#disconnect();
      throw error;
    }
  }

  async #connected(): Promise<Producer> {
    if (this.#producer !== undefined) return this.#producer;
    await ensureTopics(this.#kafka, this.#config, this.#log);
    const producer = this.#kafka.producer({
      allowAutoTopicCreation: false,
      maxInFlightRequests: 1,
      // By hash of the key as Java clients do it: Debezium in the relay's place would put a record into the same partition.
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
    await this.#last;
    await this.#disconnect();
  }
}
