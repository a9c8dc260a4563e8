import { eventually } from "@brand-records/testkit";
import { Kafka, logLevel } from "kafkajs";
import { message } from "../../test/describe-event-log.ts";
import { configOf, silent } from "../../test/kafka-config.ts";
import { openKafkaPublisher, openKafkaReader } from "./kafka-log.ts";

const config = configOf(process.env["TEST_KAFKA_BROKERS"] ?? "");
const topic = config.KAFKA_TOPIC;
const admin = new Kafka({ brokers: [...config.KAFKA_BROKERS], logLevel: logLevel.NOTHING }).admin();
const publisher = openKafkaPublisher(config, "writer", silent);
const reader = openKafkaReader(config, "readers", silent);
beforeAll(() => admin.connect());
afterAll(async () => {
  await publisher.stop();
  await reader.stop();
  await admin.disconnect();
});

const stored = async (): Promise<number> =>
  (await admin.fetchTopicOffsets(topic)).reduce((sum, { low, high }) => sum + Number(high) - Number(low), 0);
const publish = (count: number): Promise<void> => publisher.publish(Array.from({ length: count }, (_, i) => message(`sub_${i}`, "a")));

it("removes what was there, but not before each group of readers has read it, and keeps what came later", async () => {
  await publish(1);
  // The first messages of a new topic may be stored twice.
  const before = await stored();
  await publish(100);
  const { positions: end, keptUntil } = await reader.messages.end();
  expect(keptUntil).toEqual(expect.stringMatching(/^\d{4}-.*Z$/));
  const behind = { group: `${topic}.readers`, messages: before + 100, isOwn: true };
  const refusal = { isDone: false, behind: [behind], keptUntil: expect.stringMatching(/^\d{4}-.*Z$/) };
  // A group that was never used has no coordinator at first.
  await eventually(async () => expect(await reader.messages.removeBefore(end)).toEqual(refusal), { timeoutMs: 30_000 });
  expect(await stored()).toBe(before + 100);

  let received = 0;
  const subscription = reader.subscribe(async (messages) => void (received += messages.length));
  await eventually(() => expect(received).toBe(before + 100), { timeoutMs: 30_000 });
  const [first, ...others] = end;
  await admin.setOffsets({ groupId: "accounting", topic, partitions: [{ partition: first?.partition ?? 0, offset: "0" }] });
  const unread = others.reduce((sum, { offset }) => sum + offset, first?.offset ?? 0);
  await eventually(async () =>
    expect(await reader.messages.removeBefore(end)).toMatchObject({ isDone: false, behind: [{ group: "accounting", messages: unread }] }),
  );
  await publish(10);

  await admin.setOffsets({
    groupId: "accounting",
    topic,
    partitions: end.map(({ partition, offset }) => ({ partition, offset: String(offset) })),
  });
  expect(await reader.messages.removeBefore(end)).toEqual({ isDone: true, behind: [] });
  expect(await stored()).toBe(10);
  expect(await reader.messages.removeBefore(end)).toEqual({ isDone: true, behind: [] });
  await eventually(() => expect(received).toBe(before + 110));
  await subscription.stop();
  await admin.deleteGroups(["accounting"]);
}, 90_000);
