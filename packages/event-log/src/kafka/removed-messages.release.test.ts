import type { Logger } from "@brand-records/telemetry";
import { eventually } from "@brand-records/testkit";
import { Kafka, logLevel } from "kafkajs";
import { message } from "../../test/describe-event-log.ts";
import { configOf, createTopic, silent } from "../../test/kafka-config.ts";
import type { Intake, Subscription } from "../event-log.ts";
import { openKafkaPublisher, openKafkaReader } from "./kafka-log.ts";
import { rewindReaders } from "./rewind.ts";

/**
 * Messages that the log no longer has, or is to remove: what is lost is counted, once; a log that was made again is read from its
 * beginning; and an operator removes only what every group has read.
 */

const MS_MAX = { timeoutMs: 30_000 };

let config: ReturnType<typeof configOf>;
let admin: ReturnType<Kafka["admin"]>;
let publisher: ReturnType<typeof openKafkaPublisher>;
let reader: ReturnType<typeof openKafkaReader>;
let received: string[];
let lost: (number | undefined)[];
let warnings: string[];
let opened: Subscription[];
let errors: { readonly msg: string; readonly messages?: number; readonly partition?: number; readonly offset?: number }[];

const log = {
  debug: () => {},
  info: () => {},
  warn: (_: object, msg: string) => void warnings.push(msg),
  error: (fields: object, msg: string) => void errors.push({ ...fields, msg }),
} as unknown as Logger;
const receive: Intake = async (messages) => void received.push(...messages.map(({ value }) => value.toString()));

beforeEach(async () => {
  [received, lost, errors, warnings, opened] = [[], [], [], [], []];
  config = configOf(process.env["TEST_KAFKA_BROKERS"]);
  admin = new Kafka({ brokers: [...config.KAFKA_BROKERS], logLevel: logLevel.NOTHING }).admin();
  publisher = openKafkaPublisher(config, "writer", silent);
  reader = openKafkaReader(config, "readers", log);
  await admin.connect();
  await createTopic(admin, { topic: config.KAFKA_TOPIC, numPartitions: 4 });
  // The first messages of a new topic may be stored twice.
  await publisher.publish([message("sub_1", "first")]);
});
afterEach(async () => {
  for (const each of opened) await each.stop();
  await publisher.stop();
  await reader.stop();
  await admin.disconnect();
});

const groupId = (): string => `${config.KAFKA_TOPIC}.readers`;
function subscribe(intake = receive): Subscription {
  const subscription = reader.subscribe(intake, (messages) => void lost.push(messages));
  opened.push(subscription);
  return subscription;
}
const publish = (count: number, text: string): Promise<void> =>
  publisher.publish(Array.from({ length: count }, (_, index) => message(`sub_${index}`, text)));
const receivedAll = (count: number, text: string): Promise<void> =>
  eventually(() => expect(received.filter((each) => each === text)).toHaveLength(count), MS_MAX);

/** A broker may still acknowledge what is for a topic that is being deleted: publishes until it arrives. */
const receivedNew = (): Promise<void> =>
  eventually(
    async () => {
      await publish(8, "new");
      expect(received.filter((each) => each === "new").length).toBeGreaterThanOrEqual(8);
    },
    { ...MS_MAX, everyMs: 500 },
  );

/** What retention does. @returns the number of messages that were removed from each partition */
async function removeAll(): Promise<Map<number, number>> {
  const ends = await admin.fetchTopicOffsets(config.KAFKA_TOPIC);
  await admin.deleteTopicRecords({
    topic: config.KAFKA_TOPIC,
    partitions: ends.map(({ partition, high }) => ({ partition, offset: high })),
  });
  return new Map(ends.map(({ partition, low, high }) => [partition, Number(high) - Number(low)]));
}

async function readFirst(): Promise<void> {
  const subscription = subscribe();
  await eventually(() => expect(received).toContain("first"), MS_MAX);
  await eventually(async () => expect(await subscription.lag()).toEqual({ messages: 0, removed: 0 }), MS_MAX);
  await subscription.stop();
}

const total = (): number => lost.reduce<number>((sum, messages) => sum + (messages ?? 0), 0);

it("counts what retention removed while the reader was away, by partition in the log, and only once", async () => {
  await readFirst();
  const before = new Map((await admin.fetchTopicOffsets(config.KAFKA_TOPIC)).map(({ partition, high }) => [partition, Number(high)]));
  await publish(40, "gone");
  await removeAll();
  let subscription = subscribe();
  await eventually(() => expect(total()).toBe(40), MS_MAX);
  const ends = await admin.fetchTopicOffsets(config.KAFKA_TOPIC);
  const expected = ends.map(({ partition, high }) => [partition, Number(high) - (before.get(partition) ?? 0)] as const);
  const logged = errors.filter(({ msg }) => msg === "messages lost: the log removed them before they were read");
  expect(new Map(logged.map(({ partition, messages }) => [partition, messages]))).toEqual(new Map(expected));
  expect(logged).toHaveLength(4);
  await subscription.stop();
  subscription = subscribe();
  await publish(8, "after");
  await receivedAll(8, "after");
  expect(await subscription.lag()).toEqual({ messages: 0, removed: 0 });
  expect([total(), received.includes("gone")]).toEqual([40, false]);
});

it("counts what was removed from the log before the group had read anything, or after brokers have forgotten its offsets", async () => {
  const gone = [...(await removeAll()).values()].reduce((sum, messages) => sum + messages, 0);
  await publish(4, "after");
  subscribe();
  await receivedAll(4, "after");
  expect(lost).toEqual([gone]);
});

it("says so while the messages that are being removed cannot be read yet, and counts them when it comes to them", async () => {
  let isAway = false;
  const subscription = subscribe(async (messages) => {
    if (isAway) throw new Error("the database is away");
    return receive(messages);
  });
  await eventually(() => expect(received).toContain("first"), MS_MAX);
  await eventually(async () => expect(await subscription.lag()).toEqual({ messages: 0, removed: 0 }), MS_MAX);
  isAway = true;
  await publisher.publish([message("sub_1", "held")]);
  await eventually(async () => expect(await subscription.lag()).toEqual({ messages: 1, removed: 0 }));
  await publisher.publish([message("sub_1", "gone"), message("sub_1", "gone")]);
  await removeAll();
  expect(await subscription.lag()).toEqual({ messages: 0, removed: 3 });
  expect(errors).toEqual([expect.objectContaining({ msg: "the log removes messages before they are read", messages: 3 })]);
  isAway = false;
  // What the reader has fetched before is not lost.
  await eventually(
    async () => expect([received.includes("held") ? 2 : 3, received.filter((each) => each === "gone").length]).toEqual([total(), 0]),
    MS_MAX,
  );
});

it("says that brokers have no offset of the group, as at its first start and of a topic that was made again while it was away", async () => {
  const line = "brokers have no offset of this group: the log is read from its beginning";
  await readFirst();
  await readFirst();
  expect(warnings.filter((msg) => msg === line)).toHaveLength(1);
  await publish(40, "unread");
  await admin.deleteTopics({ topics: [config.KAFKA_TOPIC] });
  // Removes the offsets with it.
  await eventually(async () => expect(await admin.listTopics()).not.toContain(config.KAFKA_TOPIC), MS_MAX);
  subscribe();
  await receivedNew();
  expect(warnings.filter((msg) => msg === line)).toHaveLength(2);
});

it("reads a topic that was deleted and made again from its beginning", async () => {
  await publish(40, "old");
  subscribe();
  await receivedAll(40, "old");
  await admin.deleteTopics({ topics: [config.KAFKA_TOPIC] });
  // The next client that connects makes it again.
  await receivedNew();
});

it("reads a log that ends before the group's offsets from its beginning, and says so", async () => {
  await readFirst();
  const ends = await admin.fetchTopicOffsets(config.KAFKA_TOPIC);
  await admin.setOffsets({
    groupId: groupId(),
    topic: config.KAFKA_TOPIC,
    partitions: ends.map(({ partition, high }) => ({ partition, offset: String(Number(high) + 1_000) })),
  });
  await publish(8, "new");
  const subscription = subscribe();
  await receivedAll(8, "new");
  await eventually(() => expect(lost).toEqual([undefined, undefined, undefined, undefined]), MS_MAX);
  expect(errors.map(({ msg }) => msg)).toEqual(
    Array.from({ length: 4 }, () => "the log was made again, or has lost its end: it is read from its beginning"),
  );
  await eventually(async () => expect(await subscription.lag()).toEqual({ messages: 0, removed: 0 }), MS_MAX);
});

const stored = async (): Promise<number> =>
  (await admin.fetchTopicOffsets(config.KAFKA_TOPIC)).reduce((sum, { low, high }) => sum + Number(high) - Number(low), 0);

it("removes what was there, but not before each group of readers has read it, and keeps what came later", async () => {
  const before = await stored();
  await publish(100, "a");
  const { positions: end, keptUntil } = await reader.messages.end();
  expect(keptUntil).toEqual(expect.stringMatching(/^\d{4}-.*Z$/));
  const behind = { group: groupId(), messages: before + 100, isOwn: true };
  const refusal = { isDone: false, behind: [behind], keptUntil: expect.stringMatching(/^\d{4}-.*Z$/) };
  // A group that was never used has no coordinator at first.
  await eventually(async () => expect(await reader.messages.removeBefore(end)).toEqual(refusal), { timeoutMs: 30_000 });
  expect(await stored()).toBe(before + 100);

  const subscription = subscribe();
  await eventually(() => expect(received).toHaveLength(before + 100), MS_MAX);
  const [first, ...others] = end;
  await admin.setOffsets({
    groupId: "accounting",
    topic: config.KAFKA_TOPIC,
    partitions: [{ partition: first?.partition ?? 0, offset: "0" }],
  });
  const unread = others.reduce((sum, { offset }) => sum + offset, first?.offset ?? 0);
  await eventually(async () =>
    expect(await reader.messages.removeBefore(end)).toMatchObject({ isDone: false, behind: [{ group: "accounting", messages: unread }] }),
  );
  await publish(10, "b");

  await admin.setOffsets({
    groupId: "accounting",
    topic: config.KAFKA_TOPIC,
    partitions: end.map(({ partition, offset }) => ({ partition, offset: String(offset) })),
  });
  expect(await reader.messages.removeBefore(end)).toEqual({ isDone: true, behind: [] });
  expect(await stored()).toBe(10);
  expect(await reader.messages.removeBefore(end)).toEqual({ isDone: true, behind: [] });
  await eventually(() => expect(received).toHaveLength(before + 110));
  await subscription.stop();
  await admin.deleteGroups(["accounting"]);
}, 90_000);

describe("a rewind", () => {
  const START = new Date(Date.now() - 60_000);
  const rewind = (since = START) => rewindReaders(config, "readers", since, silent);
  /** Every message is in one partition, that of the first. */
  const publishValues = (...values: string[]): Promise<void> => publisher.publish(values.map((value) => message("sub_1", value)));

  /** Reads until a message has this value, and leaves the group. */
  async function readUntil(last: string): Promise<void> {
    received = [];
    const subscription = subscribe();
    await eventually(() => expect(received).toContain(last), MS_MAX);
    await subscription.stop();
  }

  it("says of which partitions messages since that time were removed, and when their first message was stored", async () => {
    await publishValues("1", "2", "3", "4", "5");
    await readUntil("5");
    const whole = await rewind();
    expect(whole).toMatchObject({ partitions: 1, cut: [] });
    expect(whole.messages).toBeGreaterThanOrEqual(5);
    await readUntil("5");

    const { positions } = await reader.messages.end();
    expect(await reader.messages.removeBefore(positions)).toMatchObject({ isDone: true });
    const [partition] = positions.filter(({ offset }) => offset > 0).map((position) => position.partition);
    expect(await rewind()).toMatchObject({ messages: 0, cut: [{ partition, begins_at: null }] });

    const before = Date.now();
    await publishValues("6");
    await readUntil("6");
    const { messages, cut } = await rewind();
    expect({ messages, cut }).toEqual({ messages: 1, cut: [{ partition, begins_at: expect.any(String) }] });
    const beginsAt = Date.parse(cut[0]?.begins_at ?? "");
    expect([beginsAt > before - 1_000, beginsAt <= Date.now()]).toEqual([true, true]);
    // Whatever was removed is older than what is left.
    await readUntil("6");
    expect(await rewind(new Date(Date.now() + 60_000))).toMatchObject({ messages: 0, cut: [] });
  }, 120_000);
});
