import type { Logger } from "@brand-records/telemetry";
import { Partitioners, type Kafka, type PartitionMetadata, type Producer, type RecordMetadata } from "kafkajs";
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
    return this.#hash({ topic: this.#topic, partitionMetadata: this.#partitions, message });
  }

  get partitionCount(): number {
    return this.#partitions.length;
  }

  /** Whether any partition has a leader and is none of `stuck`. */
  mayStore(stuck: ReadonlyMap<number, Error>): boolean {
    return this.#partitions.some(({ partitionId, leader }) => leader !== NO_LEADER && !stuck.has(partitionId));
  }

  /**
   * Sends one request to each leader. Returns the errors of partitions, with every partition of a leader that does not respond; the
   * brokers have acknowledged the messages of all others.
   */
  async send(batches: Batches): Promise<Map<number, Error>> {
    const byLeader = Map.groupBy(this.#partitions, ({ leader }) => leader);
    // Only a response says that messages are stored.
    const errors = new Map<number, Error>([...batches.keys()].map((partition) => [partition, leaderNotAvailable()]));
    const sendTo = async (leader: number, led: readonly PartitionMetadata[]): Promise<void> => {
      const partitions = led.map(({ partitionId }) => partitionId).filter((partition) => batches.has(partition));
      if (partitions.length === 0) return;
      try {
        if (leader === NO_LEADER) throw leaderNotAvailable();
        const responses = await this.#produce(batches, partitions);
        for (const response of responses) {
          const error = errorOf(response);
          if (error === undefined) errors.delete(response.partition);
          else errors.set(response.partition, error);
        }
      } catch (error) {
        for (const { partitionId } of led) errors.set(partitionId, error as Error);
      }
    };
    await Promise.all([...byLeader].map(([leader, led]) => sendTo(leader, led)));
    return errors;
  }

  #produce(batches: Batches, partitions: readonly number[]): Promise<RecordMetadata[]> {
    const messages = partitions.flatMap((partition) =>
      (batches.get(partition) ?? []).map(({ key, value, headers }) => ({ key, value, headers: { ...headers }, partition })),
    );
    return this.#producer.send({ topic: this.#topic, acks: ALL_IN_SYNC_REPLICAS, messages });
  }

  close(): Promise<void> {
    return disconnect(this.#producer);
  }
}
