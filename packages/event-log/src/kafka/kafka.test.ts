import { randomUUID } from "node:crypto";
import { openLog } from "@brand-records/telemetry";
import { eventually, reserveKafkaServer, startKafkaServer, type KafkaServer } from "@brand-records/testkit";
import { Kafka, logLevel } from "kafkajs";
import { parseEnv } from "@brand-records/config";
import { z } from "zod";
import { describeEventLog, message, type OpenLog } from "../../test/describe-event-log.ts";
import type { Intake, Publisher, ReceivedMessage, Subscription } from "../event-log.ts";
import { eventLogSettings, type EventLogConfig } from "../settings.ts";
import { openKafkaPublisher, openKafkaReader, type KafkaReader } from "./kafka-log.ts";

const silent = openLog("test", "silent");

const configOf = (brokers: string, topic = `test.${randomUUID()}`): EventLogConfig =>
  parseEnv(z.object(eventLogSettings), { KAFKA_BROKERS: brokers, KAFKA_TOPIC: topic, KAFKA_PARTITIONS: "4" });

const shared = (): string => process.env["TEST_KAFKA_BROKERS"] ?? "";

async function openKafkaLog(config = configOf(shared())): Promise<OpenLog> {
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
      await eventually(() => expect(subscription.isReady()).toBe(true));
      return reader.deadLetters;
    },
    async stop() {
      await publisher.stop();
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      await Promise.all(readers.map((reader) => reader.stop()));
    },
  };
}

describeEventLog("Kafka", () => openKafkaLog());

describe("the topics", () => {
  it("are made with the settings' partitions and retention, once, by whoever comes first", async () => {
    const config = configOf(shared());
    const publishers = Array.from({ length: 3 }, () => openKafkaPublisher(config, "writer", silent));
    await Promise.all(publishers.map((publisher) => publisher.publish([message("sub_1", "a")])));
    const admin = new Kafka({ brokers: [...config.KAFKA_BROKERS], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const { topics } = await admin.fetchTopicMetadata({ topics: [config.KAFKA_TOPIC, `${config.KAFKA_TOPIC}.dead`] });
    expect(new Map(topics.map(({ name, partitions }) => [name, partitions.length]))).toEqual(
      new Map([
        [config.KAFKA_TOPIC, 4],
        [`${config.KAFKA_TOPIC}.dead`, 1],
      ]),
    );
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: 2, name: config.KAFKA_TOPIC, configNames: ["retention.ms"] }],
    });
    expect(resources[0]?.configEntries).toMatchObject([{ configName: "retention.ms", configValue: String(168 * 3_600_000) }]);
    await admin.disconnect();
    await Promise.all(publishers.map((publisher) => publisher.stop()));
  });
});

it("tells how far the readers are behind", async () => {
  const config = configOf(shared());
  const log = await openKafkaLog(config);
  const reader = openKafkaReader(config, "readers", silent);
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => void (open = resolve));
  const subscription = reader.subscribe(() => gate);
  // The first messages of a new topic may be there twice: its partitions may have no leader yet.
  await log.publisher.publish([message("sub_1", "first")]);
  await eventually(async () => expect(await subscription.lag()).toBeGreaterThanOrEqual(1));
  const before = (await subscription.lag()) ?? 0;
  await log.publisher.publish(Array.from({ length: 30 }, (_, index) => message(`sub_${index}`, "a")));
  expect(await subscription.lag()).toBe(before + 30);
  open();
  await eventually(async () => expect(await subscription.lag()).toBe(0));
  await subscription.stop();
  await reader.stop();
  await log.stop();
});

it("shares the messages between three readers, and leaves all to the last one", async () => {
  const config = configOf(shared());
  const publisher = openKafkaPublisher(config, "writer", silent);
  const taken: string[][] = [[], [], []];
  const readers = taken.map(() => openKafkaReader(config, "readers", silent));
  const subscriptions = readers.map((reader, index) =>
    reader.subscribe(async (messages) => void taken[index]?.push(...messages.map(({ value }) => value.toString()))),
  );
  const publish = (from: number): Promise<void> =>
    publisher.publish(Array.from({ length: 60 }, (_, index) => message(`sub_${index}`, String(from + index))));
  await eventually(async () => {
    await publish(0);
    expect(taken.every(({ length }) => length > 0)).toBe(true);
  });
  await subscriptions[0]?.stop();
  await subscriptions[1]?.stop();
  const [gone, alsoGone] = [taken[0]?.length, taken[1]?.length];
  await publish(1_000);
  await eventually(() => expect(taken[2]?.filter((text) => Number(text) >= 1_000).length).toBeGreaterThanOrEqual(60), {
    timeoutMs: 20_000,
  });
  expect([taken[0]?.length, taken[1]?.length]).toEqual([gone, alsoGone]);
  await subscriptions[2]?.stop();
  await Promise.all(readers.map((reader) => reader.stop()));
  await publisher.stop();
}, 60_000);

describe("a broker of one's own", () => {
  let kafka: KafkaServer;
  let received: ReceivedMessage[];
  let opened: { stop(): Promise<void> }[];
  const take: Intake = async (messages) => void received.push(...messages);
  const texts = (): string[] => received.map(({ value }) => value.toString());
  const start = () => {
    const config = configOf(kafka.brokers);
    const reader = openKafkaReader(config, "readers", silent);
    const publisher = openKafkaPublisher(config, "writer", silent);
    const subscription = reader.subscribe(take);
    opened.push(subscription, publisher, reader);
    return { publisher, subscription };
  };
  beforeEach(() => {
    received = [];
    opened = [];
  });
  afterEach(async () => {
    for (const each of opened) await each.stop();
    await kafka.stop();
  });

  it("may come later: until then publishing rejects, both ends say that they are not ready, and then everything flows", async () => {
    kafka = await reserveKafkaServer();
    const { publisher, subscription } = start();
    await expect(publisher.publish([message("sub_1", "lost")])).rejects.toThrow("ECONNREFUSED");
    expect([publisher.isReady(), subscription.isReady()]).toEqual([false, false]);
    expect(await subscription.lag()).toBeUndefined();
    await kafka.start();
    await eventually(() => publisher.publish([message("sub_1", "a")]), { timeoutMs: 10_000 });
    await eventually(() => expect(texts()).toEqual(["a"]), { timeoutMs: 10_000 });
    expect(subscription.isReady()).toBe(true);
  }, 60_000);

  it.each<[string, (kafka: KafkaServer) => Promise<void>, (kafka: KafkaServer) => Promise<void>]>([
    ["killed and started again", (kafka) => kafka.kill(), (kafka) => kafka.start()],
    ["frozen until both ends have noticed, and thawed", (kafka) => kafka.freeze(), (kafka) => kafka.thaw()],
  ])(
    "may be %s: nothing is lost, and order is kept",
    async (_, away, back) => {
      kafka = await startKafkaServer();
      const { publisher, subscription } = start();
      await eventually(() => publisher.publish([message("sub_1", "1")]), { timeoutMs: 10_000 });
      await eventually(() => expect(texts()).toEqual(["1"]), { timeoutMs: 10_000 });
      await away(kafka);
      const published = publishUntilTaken(publisher, "2");
      await eventually(() => expect(subscription.isReady()).toBe(false), { timeoutMs: 30_000 });
      await back(kafka);
      await published;
      await publishUntilTaken(publisher, "3");
      // What was published while nobody answered may be there twice.
      await eventually(() => expect([...new Set(texts())]).toEqual(["1", "2", "3"]), { timeoutMs: 30_000 });
      expect(texts().at(-1)).toBe("3");
    },
    90_000,
  );
});

/** As the relay does it. */
async function publishUntilTaken(publisher: Publisher, text: string): Promise<void> {
  await eventually(() => publisher.publish([message("sub_1", text)]), { timeoutMs: 60_000 });
}
