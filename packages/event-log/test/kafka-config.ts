import { randomUUID } from "node:crypto";
import { parseEnv } from "@brand-records/config";
import { openLog } from "@brand-records/telemetry";
import { eventually } from "@brand-records/testkit";
import type { Admin, ITopicConfig } from "kafkajs";
import { z } from "zod";
import { PartlyPublished, type LogMessage, type Publisher, type PublishFailure, type Subscription } from "../src/event-log.ts";
import { openKafkaPublisher, openKafkaReader, type KafkaReader } from "../src/kafka/kafka-log.ts";
import { eventLogSettings, type EventLogConfig } from "../src/settings.ts";
import { message, type OpenLog } from "./describe-event-log.ts";

export const silent = openLog("test", "silent");

/** Four partitions and a topic that no other test uses. */
export const configOf = (brokers = ""): EventLogConfig =>
  parseEnv(z.object(eventLogSettings), { KAFKA_BROKERS: brokers, KAFKA_TOPIC: `test.${randomUUID()}`, KAFKA_PARTITIONS: "4" });

/** Consumers that join one after the other wait for heartbeats, 2 s each, and once for a join that was repeated. */
export const JOIN_MS_MAX = 30_000;

/** A log in Kafka whose readers are of one group. */
export async function openKafkaLog(config: EventLogConfig): Promise<OpenLog> {
  const publisher = openKafkaPublisher(config, "writer", silent);
  const readers: KafkaReader[] = [];
  const subscriptions: Subscription[] = [];
  return {
    publisher,
    async read(intake) {
      const reader = openKafkaReader(config, "readers", silent);
      const subscription = reader.subscribe(intake);
      readers.push(reader);
      subscriptions.push(subscription);
      await eventually(() => expect(subscription.isReady()).toBe(true), { timeoutMs: JOIN_MS_MAX });
      return reader.deadLetters;
    },
    async stop() {
      await publisher.stop();
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      await Promise.all(readers.map((reader) => reader.stop()));
    },
  };
}

/** Creates a topic. kafkajs' wait for its leaders fails if a broker does not know it yet. */
export const createTopic = (admin: Admin, topic: ITopicConfig): Promise<boolean> =>
  eventually(() => admin.createTopics({ topics: [topic], waitForLeaders: true }));

/** An event of ours. */
const EVENT_BYTES = 485;

export const eventsOf = (count: number, key = (index: number): string => `sub_${index}`): LogMessage[] =>
  Array.from({ length: count }, (_, index) => message(key(index), Buffer.alloc(EVENT_BYTES, index)));

/** Publishes and returns what was not. */
export const failuresOf = async (publisher: Publisher, messages: readonly LogMessage[]): Promise<readonly PublishFailure[]> => {
  try {
    await publisher.publish(messages);
    return [];
  } catch (error) {
    if (error instanceof PartlyPublished) return error.failures;
    throw error;
  }
};

/** How many messages were ever stored: a repeated one counts twice. */
export const stored = async ({ KAFKA_TOPIC: topic }: EventLogConfig, admin: Admin): Promise<number> =>
  (await admin.fetchTopicOffsets(topic)).reduce((sum, { high }) => sum + Number(high), 0);
