import { eventually, startKafkaServer, startSecondKafkaServer } from "@brand-records/testkit";
import { Kafka, logLevel, type Admin } from "kafkajs";
import { message } from "../../test/describe-event-log.ts";
import { configOf, silent } from "../../test/kafka-config.ts";
import { PartlyPublished, type LogMessage, type PublishFailure, type Publisher } from "../event-log.ts";
import type { EventLogConfig } from "../settings.ts";
import { openKafkaPublisher, openKafkaReader } from "./kafka-log.ts";
import { deadLetterTopicOf } from "./topics.ts";

const TOPIC = 2;
/** An event of ours. */
const EVENT_BYTES = 485;

let opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

const adminOf = async (brokers: string): Promise<Admin> => {
  const admin = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING, retry: { retries: 0 } }).admin();
  await admin.connect();
  opened.push(() => admin.disconnect());
  return admin;
};

const publisherFor = (config: EventLogConfig): Publisher => {
  const publisher = openKafkaPublisher(config, "writer", silent);
  opened.push(() => publisher.stop());
  return publisher;
};

const eventsOf = (count: number, key = (index: number): string => `sub_${index}`): LogMessage[] =>
  Array.from({ length: count }, (_, index) => message(key(index), Buffer.alloc(EVENT_BYTES, index)));

/** Publishes and returns what was not. */
const failuresOf = async (publisher: Publisher, messages: readonly LogMessage[]): Promise<readonly PublishFailure[]> => {
  try {
    await publisher.publish(messages);
    return [];
  } catch (error) {
    if (error instanceof PartlyPublished) return error.failures;
    throw error;
  }
};

/** How many messages were ever stored: a repeated one counts twice. */
const stored = async ({ KAFKA_TOPIC: topic }: EventLogConfig, admin: Admin): Promise<number> =>
  (await admin.fetchTopicOffsets(topic)).reduce((sum, { high }) => sum + Number(high), 0);

describe("a topic that takes less than our batches", () => {
  const config = (): EventLogConfig => configOf(process.env["TEST_KAFKA_BROKERS"] ?? "");
  const create = async ({ KAFKA_TOPIC }: EventLogConfig, admin: Admin, bytesMax: number, topic = KAFKA_TOPIC): Promise<void> => {
    const configEntries = [{ name: "max.message.bytes", value: String(bytesMax) }];
    await admin.createTopics({ topics: [{ topic, numPartitions: topic === KAFKA_TOPIC ? 4 : 1, configEntries }], waitForLeaders: true });
  };
  it("stores every message once", async () => {
    const settings = config();
    const admin = await adminOf(settings.KAFKA_BROKERS[0] ?? "");
    await create(settings, admin, 45_000);
    const publisher = publisherFor(settings);
    await publisher.publish(eventsOf(2_000));
    expect(await stored(settings, admin)).toBe(2_000);
  });

  it("stores every message once, in order, if the limit is lowered while it is connected", async () => {
    const settings = config();
    const admin = await adminOf(settings.KAFKA_BROKERS[0] ?? "");
    await create(settings, admin, 1_000_000);
    const publisher = publisherFor(settings);
    await publisher.publish(eventsOf(1));
    const configEntries = [{ name: "max.message.bytes", value: "20000" }];
    await admin.alterConfigs({ validateOnly: false, resources: [{ type: TOPIC, name: settings.KAFKA_TOPIC, configEntries }] });
    await publisher.publish(eventsOf(2_000));
    expect(await stored(settings, admin)).toBe(2_001);
  });

  it("names a message that does not fit alone and those behind it, and stores all others once", async () => {
    const settings = config();
    const admin = await adminOf(settings.KAFKA_BROKERS[0] ?? "");
    await create(settings, admin, 20_000);
    const publisher = publisherFor(settings);
    const messages = eventsOf(400, (index) => `sub_${index % 40}`);
    messages[100] = message("sub_20", Buffer.alloc(30_000));
    const failures = await failuresOf(publisher, messages);
    const later = messages.filter(({ key }, index) => key === "sub_20" && index > 100);
    expect(failures.map(({ message: each, reason }) => [messages.indexOf(each), reason])).toEqual([
      [100, "too_large"],
      ...later.map((each) => [messages.indexOf(each), "behind"]),
    ]);
    expect(await stored(settings, admin)).toBe(400 - failures.length);
    await publisher.publish(eventsOf(10));
    expect(await stored(settings, admin)).toBe(410 - failures.length);
  });

  it("keeps as much of a dead letter as its topic takes, and all of those behind it", async () => {
    const settings = config();
    const admin = await adminOf(settings.KAFKA_BROKERS[0] ?? "");
    await create(settings, admin, 20_000, deadLetterTopicOf(settings.KAFKA_TOPIC));
    const reader = openKafkaReader(settings, "readers", silent);
    opened.push(() => reader.stop());
    const letters = [300_000, 10, 30_000].map((bytes) => ({
      message: { ...message("sub_1", Buffer.alloc(bytes)), position: "" },
      reason: "",
    }));
    await reader.deadLetters.put(letters);
    const { deadLetters } = await reader.deadLetters.list(10);
    expect(deadLetters.map(({ bytes }) => bytes)).toEqual([300_000, 10, 30_000]);
  });
});

it("goes on with the partitions that have a leader, and stores every message once when the others have one again", async () => {
  const first = await startKafkaServer();
  opened.push(() => first.stop());
  const second = await startSecondKafkaServer(first);
  opened.push(() => second.stop());
  const settings = configOf(first.brokers);
  const admin = await adminOf(first.brokers);
  const replicaAssignment = [1, 2, 2, 2].map((broker, partition) => ({ partition, replicas: [broker] }));
  await admin.createTopics({ topics: [{ topic: settings.KAFKA_TOPIC, replicaAssignment }], waitForLeaders: true });
  const publisher = publisherFor(settings);
  await publisher.publish(eventsOf(40));
  const all = configOf(first.brokers);
  await admin.createTopics({
    topics: [{ topic: all.KAFKA_TOPIC, replicaAssignment: [{ partition: 0, replicas: [2] }] }],
    waitForLeaders: true,
  });
  const refused = publisherFor(all);
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
});
