import { eventually } from "@brand-records/testkit";
import { Kafka, logLevel } from "kafkajs";
import { message } from "../../test/describe-event-log.ts";
import { configOf, JOIN_MS_MAX, openKafkaLog, silent } from "../../test/kafka-config.ts";
import { openKafkaPublisher, openKafkaReader } from "./kafka-log.ts";

it("the topics are created once, by the first publisher and the first reader, with the partitions and retention of the settings", async () => {
  const config = configOf(process.env["TEST_KAFKA_BROKERS"]);
  const publishers = Array.from({ length: 3 }, () => openKafkaPublisher(config, "writer", silent));
  await Promise.all(publishers.map((publisher) => publisher.publish([message("sub_1", "a")])));
  const admin = new Kafka({ brokers: [...config.KAFKA_BROKERS], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  // The publisher's login needs no right to dead letters.
  expect(await admin.listTopics()).not.toContain(`${config.KAFKA_TOPIC}.dead`);
  const reader = openKafkaReader(config, "readers", silent);
  const subscription = reader.subscribe(async () => {});
  await eventually(() => expect(subscription.isReady()).toBe(true), { timeoutMs: 20_000 });
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
  await Promise.all([subscription, reader, ...publishers].map((each) => each.stop()));
});

it("reports how many messages the readers are behind", async () => {
  const config = configOf(process.env["TEST_KAFKA_BROKERS"]);
  const log = await openKafkaLog(config);
  const reader = openKafkaReader(config, "readers", silent);
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => void (open = resolve));
  const subscription = reader.subscribe(() => gate);
  // The first messages of a new topic may be stored twice: its partitions may have no leader yet.
  await log.publisher.publish([message("sub_1", "first")]);
  await eventually(async () => expect((await subscription.lag())?.messages).toBeGreaterThanOrEqual(1));
  const before = (await subscription.lag())?.messages ?? 0;
  await log.publisher.publish(Array.from({ length: 30 }, (_, index) => message(`sub_${index}`, "a")));
  expect(await subscription.lag()).toEqual({ messages: before + 30, removed: 0 });
  open();
  await eventually(async () => expect((await subscription.lag())?.messages).toBe(0));
  await subscription.stop();
  await reader.stop();
  await log.stop();
});

it("gives what waits in every partition to the intake at once", async () => {
  const config = configOf(process.env["TEST_KAFKA_BROKERS"]);
  const log = await openKafkaLog(config);
  const calls: string[][] = [];
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => void (open = resolve));
  await log.publisher.publish([message("sub_1", "first")]);
  await log.read(async (messages) => {
    calls.push(messages.map(({ position }) => position.split("@")[0] ?? ""));
    await gate;
  });
  await eventually(() => expect(calls).not.toEqual([]));
  const before = calls.length;
  await log.publisher.publish(Array.from({ length: 40 }, (_, index) => message(`sub_${index}`, "a")));
  open();
  await eventually(() => expect(calls.slice(before).flat()).toHaveLength(40));
  // A broker may respond with the first partition alone.
  expect(calls.length - before).toBeLessThanOrEqual(2);
  expect(new Set(calls.slice(before).flat()).size).toBe(4);
  await log.stop();
});

it("goes on with the other partitions while the messages of one cannot be processed, then with that one in order", async () => {
  const config = configOf(process.env["TEST_KAFKA_BROKERS"]);
  const log = await openKafkaLog(config);
  let isAway = true;
  let refusals = 0;
  const received: string[] = [];
  await log.publisher.publish([message("sub_0", "first")]);
  await log.read(async (messages) => {
    const texts = messages.map(({ value }) => value.toString());
    if (isAway && texts.some((text) => text.startsWith("refused"))) {
      refusals += 1;
      throw new Error("accounts is away");
    }
    received.push(...texts);
  });
  await eventually(() => expect(received).toContain("first"));
  await log.publisher.publish([message("sub_0", "refused 1")]);
  await eventually(() => expect(refusals).toBeGreaterThan(1));
  await log.publisher.publish([message("sub_0", "refused 2")]);
  // Each round is fetched after the one before has been processed. One broker leads all partitions.
  for (const round of [1, 2, 3]) {
    await log.publisher.publish(Array.from({ length: 8 }, (_, index) => message(`sub_${index + 1}`, `round ${round}`)));
    await eventually(() => expect(received.filter((text) => text === `round ${round}`).length).toBeGreaterThanOrEqual(3));
  }
  expect(received.filter((text) => text.startsWith("refused"))).toEqual([]);
  isAway = false;
  await eventually(() => expect(received.filter((text) => text.startsWith("refused"))).toEqual(["refused 1", "refused 2"]));
  await eventually(() => expect(received.filter((text) => text.startsWith("round"))).toHaveLength(24));
  await log.stop();
});

it("shares the messages among three readers, and gives all to the last one left", async () => {
  const config = configOf(process.env["TEST_KAFKA_BROKERS"]);
  const publisher = openKafkaPublisher(config, "writer", silent);
  const received: string[][] = [[], [], []];
  const readers = received.map(() => openKafkaReader(config, "readers", silent));
  const subscriptions = readers.map((reader, index) =>
    reader.subscribe(async (messages) => void received[index]?.push(...messages.map(({ value }) => value.toString()))),
  );
  const publish = (from: number): Promise<void> =>
    publisher.publish(Array.from({ length: 60 }, (_, index) => message(`sub_${index}`, String(from + index))));
  await eventually(
    async () => {
      await publish(0);
      expect(received.every(({ length }) => length > 0)).toBe(true);
    },
    { timeoutMs: JOIN_MS_MAX },
  );
  await subscriptions[0]?.stop();
  await subscriptions[1]?.stop();
  const before = [received[0]?.length, received[1]?.length];
  await publish(1_000);
  await eventually(() => expect(received[2]?.filter((text) => Number(text) >= 1_000).length).toBeGreaterThanOrEqual(60), {
    timeoutMs: 20_000,
  });
  expect([received[0]?.length, received[1]?.length]).toEqual(before);
  await subscriptions[2]?.stop();
  await Promise.all(readers.map((reader) => reader.stop()));
  await publisher.stop();
}, 60_000);
