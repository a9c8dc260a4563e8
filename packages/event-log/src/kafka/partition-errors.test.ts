import { eventually, startKafkaServer, startSecondKafkaServer, type KafkaServer } from "@brand-records/testkit";
import { Kafka, logLevel } from "kafkajs";
import { configOf, silent } from "../../test/kafka-config.ts";
import type { Subscription } from "../event-log.ts";
import { openKafkaReader, type KafkaReader } from "./kafka-log.ts";

/** One promise: partitions without a leader hold up no other, nor what is known of them, and are read when they have one again. */

const HEALTHY = [0, 1, 2, 3];
const LEADERLESS = [4, 5, 6, 7, 8, 9, 10, 11];
const MS_MAX = { timeoutMs: 60_000 };

const opened: { stop(): Promise<void> }[] = [];
afterAll(async () => {
  for (const each of opened.toReversed()) await each.stop();
});
const own = <T extends { stop(): Promise<void> }>(each: T): T => {
  opened.push(each);
  return each;
};

it("reads the partitions that have a leader, also as a new member, and the others when theirs is back", async () => {
  const first = own(await startKafkaServer());
  const config = configOf(first.brokers);
  const topic = config.KAFKA_TOPIC;
  const kafka = new Kafka({ brokers: [first.brokers], logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  own({ stop: () => Promise.all([admin.disconnect(), producer.disconnect()]).then(() => {}) });
  await admin.connect();
  // The offsets of groups are on the first broker.
  await eventually(() => admin.fetchOffsets({ groupId: "any", topics: [] }), MS_MAX);
  const second: KafkaServer = own(await startSecondKafkaServer(first));
  const replicaAssignment = [...HEALTHY, ...LEADERLESS].map((partition) => ({
    partition,
    replicas: [HEALTHY.includes(partition) ? 1 : 2],
  }));
  await eventually(() => admin.createTopics({ topics: [{ topic, replicaAssignment }], waitForLeaders: true }), MS_MAX);
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
