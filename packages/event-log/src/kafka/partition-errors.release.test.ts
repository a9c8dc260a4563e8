import { eventually, startKafkaServer, startSecondKafkaServer, type KafkaServer } from "@brand-records/testkit";
import { Kafka, logLevel, type Admin } from "kafkajs";
import { configOf, eventsOf, failuresOf, silent, stored } from "../../test/kafka-config.ts";
import type { LogMessage, Publisher, PublishFailure, Subscription } from "../event-log.ts";
import { openKafkaPublisher, openKafkaReader, type KafkaReader } from "./kafka-log.ts";

/**
 * Partitions without a leader hold up no other, nor what is known of them. What waits for them is stored, and read, when they have one
 * again.
 */

const HEALTHY = [0, 1, 2, 3];
const LEADERLESS = [4, 5, 6, 7, 8, 9, 10, 11];
const MS_MAX = { timeoutMs: 60_000 };

let first: KafkaServer;
/** It leads the partitions that lose their leader. */
let second: KafkaServer;
let kafka: Kafka;
let admin: Admin;
const opened: { stop(): Promise<void> }[] = [];
const own = <T extends { stop(): Promise<void> }>(each: T): T => {
  opened.push(each);
  return each;
};
beforeAll(async () => {
  first = own(await startKafkaServer());
  kafka = new Kafka({ brokers: [first.brokers], logLevel: logLevel.NOTHING });
  admin = kafka.admin();
  own({ stop: () => admin.disconnect() });
  await admin.connect();
  // The offsets of groups are on the first broker.
  await eventually(() => admin.fetchOffsets({ groupId: "any", topics: [] }), MS_MAX);
  second = own(await startSecondKafkaServer(first));
}, 120_000);
afterAll(async () => {
  for (const each of opened.toReversed()) await each.stop();
});

/** Creates a topic whose partitions are on these brokers. */
const createTopic = (topic: string, ...brokers: number[]) =>
  eventually(async () => {
    const replicaAssignment = brokers.map((broker, partition) => ({ partition, replicas: [broker] }));
    await admin.createTopics({ topics: [{ topic, replicaAssignment }], waitForLeaders: true });
  }, MS_MAX);

it("reads the partitions that have a leader, also as a new member, and the others when theirs is back", async () => {
  const config = configOf(first.brokers);
  const topic = config.KAFKA_TOPIC;
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  own({ stop: () => producer.disconnect() });
  await createTopic(topic, ...HEALTHY.map(() => 1), ...LEADERLESS.map(() => 2));
  await producer.connect();
  /** Until every partition has stored it: this package's patch has `send` return the errors of partitions. */
  const publish = (partitions: readonly number[], value: string): Promise<void> =>
    eventually(async () => {
      const stored = await producer.send({ topic, messages: partitions.map((partition) => ({ partition, value })) });
      expect(stored.filter(({ errorCode }) => errorCode !== 0)).toEqual([]);
    }, MS_MAX);

  const received: string[] = [];
  const partitionsOf = (value: string): Set<number> =>
    new Set(received.filter((each) => each.endsWith(` ${value}`)).map((each) => Number(/\/(\d+)@/.exec(each)?.[1])));
  const subscribe = (reader: KafkaReader): Subscription =>
    reader.subscribe(async (messages) => void received.push(...messages.map(({ position, value }) => `${position} ${value.toString()}`)));
  const reader = own(openKafkaReader(config, "readers", silent));
  const subscription = own(subscribe(reader));
  // The group has offsets in half of the partitions that lose their leader.
  const before = [...HEALTHY, ...LEADERLESS.slice(4)];
  await publish(before, "before");
  await eventually(() => expect(partitionsOf("before")).toEqual(new Set(before)), MS_MAX);

  await second.kill();
  await eventually(async () => expect((await admin.describeCluster()).brokers).toHaveLength(1), MS_MAX);
  await publish(HEALTHY, "during");
  await eventually(() => expect(partitionsOf("during")).toEqual(new Set(HEALTHY)), MS_MAX);
  await eventually(() => expect(subscription.isReady()).toBe(true), MS_MAX);
  await eventually(async () => expect(await subscription.lag()).toEqual({ messages: 0, removed: 0 }), MS_MAX);
  await subscription.stop();
  own(subscribe(reader));
  await publish(HEALTHY, "as a new member");
  await eventually(() => expect(partitionsOf("as a new member")).toEqual(new Set(HEALTHY)), MS_MAX);

  await second.start();
  await publish([...HEALTHY, ...LEADERLESS], "after");
  await eventually(() => expect(partitionsOf("after")).toEqual(new Set([...HEALTHY, ...LEADERLESS])), MS_MAX);
}, 240_000);

it("publishes to the partitions that have a leader, and stores every message once when the others have one again", async () => {
  const [settings, all] = [configOf(first.brokers), configOf(first.brokers)];
  await createTopic(settings.KAFKA_TOPIC, 1, 2, 2, 2);
  await createTopic(all.KAFKA_TOPIC, 2);
  const [publisher, refused] = [settings, all].map((each) => own(openKafkaPublisher(each, "writer", silent))) as [Publisher, Publisher];
  await publisher.publish(eventsOf(40));
  await refused.publish(eventsOf(40));
  expect(refused.isReady()).toBe(true);

  await second.kill();
  const waiting: PublishFailure[] = [];
  // At first the brokers still name the leader that is gone; a new connection may even be led there, before anything is sent.
  for (let round = 1; round <= 3; round += 1) waiting.push(...(await eventually(() => failuresOf(publisher, eventsOf(40)))));
  expect(new Set(waiting.map(({ partition, reason }) => `${partition} ${reason}`))).toEqual(
    new Set(["1 partition", "2 partition", "3 partition"]),
  );
  const messages = waiting.map(({ message: each }) => each);
  expect(messages.length % 3).toBe(0);
  expect(messages.length).toBeLessThan(120);
  // A call whose last try found no broker leaves no connection; the next call opens one.
  await eventually(async () => {
    await publisher.publish([]);
    expect(publisher.isReady()).toBe(true);
  });
  expect((await failuresOf(refused, eventsOf(40))).length).toBe(40);
  expect(refused.isReady()).toBe(false);

  await second.start();
  let left: readonly LogMessage[] = messages;
  await eventually(
    async () => {
      left = (await failuresOf(publisher, left)).map(({ message: each }) => each);
      expect(left).toEqual([]);
    },
    { timeoutMs: 60_000 },
  );
  await eventually(async () => expect(await stored(settings, admin)).toBe(160));
}, 240_000);
