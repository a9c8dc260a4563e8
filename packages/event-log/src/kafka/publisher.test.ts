import { Kafka, logLevel, type Admin } from "kafkajs";
import { eventually } from "@brand-records/testkit";
import { message } from "../../test/describe-event-log.ts";
import { configOf, createTopic, eventsOf, failuresOf, silent, stored } from "../../test/kafka-config.ts";
import type { Publisher } from "../event-log.ts";
import type { EventLogConfig } from "../settings.ts";
import { openKafkaPublisher, openKafkaReader } from "./kafka-log.ts";
import { deadLetterTopicOf, TOPIC_RESOURCE } from "./topics.ts";

/** A topic that takes less than our batches. */

let settings: EventLogConfig;
let admin: Admin;
let publisher: Publisher;
beforeEach(async () => {
  settings = configOf(process.env["TEST_KAFKA_BROKERS"]);
  admin = new Kafka({ brokers: [...settings.KAFKA_BROKERS], logLevel: logLevel.NOTHING, retry: { retries: 0 } }).admin();
  await admin.connect();
  publisher = openKafkaPublisher(settings, "writer", silent);
});
afterEach(async () => {
  await publisher.stop();
  await admin.disconnect();
});

const create = async (bytesMax: number, topic = settings.KAFKA_TOPIC): Promise<void> => {
  const configEntries = [{ name: "max.message.bytes", value: String(bytesMax) }];
  const numPartitions = topic === settings.KAFKA_TOPIC ? 4 : 1;
  await createTopic(admin, { topic, numPartitions, configEntries });
};

it("stores every message once", async () => {
  await create(45_000);
  await publisher.publish(eventsOf(2_000));
  expect(await stored(settings, admin)).toBe(2_000);
});

it("stores every message once, in order, if the limit is lowered while it is connected", async () => {
  await create(1_000_000);
  await publisher.publish(eventsOf(1));
  const configEntries = [{ name: "max.message.bytes", value: "20000" }];
  await admin.alterConfigs({ validateOnly: false, resources: [{ type: TOPIC_RESOURCE, name: settings.KAFKA_TOPIC, configEntries }] });
  await publisher.publish(eventsOf(2_000));
  expect(await stored(settings, admin)).toBe(2_001);
});

it("names a message that does not fit alone and those behind it, and stores all others once", async () => {
  await create(20_000);
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
  await create(20_000, deadLetterTopicOf(settings.KAFKA_TOPIC));
  const reader = openKafkaReader(settings, "readers", silent);
  const letters = [300_000, 10, 30_000].map((bytes) => ({
    message: { ...message("sub_1", Buffer.alloc(bytes)), position: "" },
    reason: "",
  }));
  await reader.deadLetters.put(letters);
  // A new broker has no coordinator of groups at first.
  const { deadLetters } = await eventually(() => reader.deadLetters.list(10));
  expect(deadLetters.map(({ bytes }) => bytes)).toEqual([300_000, 10, 30_000]);
  await reader.stop();
});
