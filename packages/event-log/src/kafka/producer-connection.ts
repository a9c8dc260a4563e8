import type { Logger } from "@brand-records/telemetry";
import { Partitioners, type Kafka, type Message, type PartitionMetadata, type Producer } from "kafkajs";
import type { LogMessage } from "../event-log.ts";
import type { EventLogConfig } from "../settings.ts";
import { disconnect } from "./open-kafka.ts";
import { errorOf, leaderNotAvailable, NO_LEADER } from "./partition-errors.ts";
import { ensureTopics, type TopicState } from "./topics.ts";

const ALL_IN_SYNC_REPLICAS = -1;

/** Messages by partition, each in order. */
export type Batches = ReadonlyMap<number, readonly LogMessage[]>;

/** A connection for writing to one topic. What fails is sent again by the caller alone, who knows what was acknowledged. */
export class ProducerConnection {
  readonly #topic: string;
  readonly #producer: Producer;
  readonly #hash = Partitioners.DefaultPartitioner();
  /** The topic's max.message.bytes, if this login may read it. */
  readonly batchBytesMax: number | undefined;
  #partitions: PartitionMetadata[];

  private constructor(kafka: Kafka, topic: string, { partitions, batchBytesMax }: TopicState) {
    this.#topic = topic;
    this.#partitions = partitions;
    this.batchBytesMax = batchBytesMax;
    this.#producer = kafka.producer({
      allowAutoTopicCreation: false,
      maxInFlightRequests: 1,
      // kafkajs would repeat a request for every partition in it.
      retry: { retries: 0 },
      createPartitioner:
        () =>
        ({ partitionMetadata, message }) => {
          // Every five minutes kafkajs asks where the leaders are.
          this.#partitions = partitionMetadata;
          return message.partition as number;
        },
    });
  }

  static async open(kafka: Kafka, config: EventLogConfig, log: Logger, topic: string): Promise<ProducerConnection> {
    const [state] = await ensureTopics(kafka, config, log, topic);
    const connection = new ProducerConnection(kafka, topic, state as TopicState);
    await connection.#producer.connect();
    return connection;
  }

  /** Hashes the key as Java clients do: Debezium in the relay's place would write a record to the same partition. */
  partitionOf(message: LogMessage): number {
    return this.#hash({ topic: this.#topic, partitionMetadata: this.#partitions, message: message as Message });
  }

  get partitionCount(): number {
    return this.#partitions.length;
  }

  /**
   * Sends one request to each leader. Returns the errors of partitions, with every partition of a leader that does not respond; the
   * brokers have acknowledged the messages of all others.
   */
  async send(batches: Batches): Promise<Map<number, Error>> {
    const byLeader = Map.groupBy(this.#partitions, ({ leader }) => leader);
    const errors = new Map<number, Error>();
    const sendTo = async (leader: number, led: readonly number[]): Promise<void> => {
      const partitions = led.filter((partition) => batches.has(partition));
      if (partitions.length === 0) return;
      try {
        if (leader === NO_LEADER) throw leaderNotAvailable();
        const responses = await this.#produce(batches, partitions);
        for (const partition of partitions) {
          const response = responses.get(partition);
          const error = response === undefined ? new Error(`no response for partition ${partition}`) : errorOf(response);
          if (error !== undefined) errors.set(partition, error);
        }
      } catch (error) {
        for (const partition of led) errors.set(partition, error as Error);
      }
    };
    await Promise.all(
      [...byLeader].map(([leader, led]) =>
        sendTo(
          leader,
          led.map(({ partitionId }) => partitionId),
        ),
      ),
    );
    return errors;
  }

  async #produce(batches: Batches, partitions: readonly number[]) {
    const messages = partitions.flatMap((partition) =>
      (batches.get(partition) ?? []).map(({ key, value, headers }) => ({ key, value, headers: { ...headers }, partition })),
    );
    const responses = await this.#producer.send({ topic: this.#topic, acks: ALL_IN_SYNC_REPLICAS, messages });
    return new Map(responses.map((response) => [response.partition, response]));
  }

  close(): Promise<void> {
    return disconnect(this.#producer);
  }
}
