import { eventually } from "@brand-records/testkit";
import { message } from "../../test/describe-event-log.ts";
import { configOf, silent } from "../../test/kafka-config.ts";
import { openKafkaPublisher, openKafkaReader } from "./kafka-log.ts";
import { rewindReaders } from "./rewind.ts";

const GROUP = "readers";
const config = configOf(process.env["TEST_KAFKA_BROKERS"] ?? "");
const publisher = openKafkaPublisher(config, "writer", silent);
const reader = openKafkaReader(config, GROUP, silent);
afterAll(async () => {
  await publisher.stop();
  await reader.stop();
});

const START = new Date(Date.now() - 60_000);
/** Every message is in one partition. */
const publish = (values: readonly string[]): Promise<void> => publisher.publish(values.map((value) => message("sub_a", value)));
const rewind = (since = START) => rewindReaders(config, GROUP, since, silent);

/** Reads until a message has this value, and leaves the group. */
async function readUntil(last: string): Promise<void> {
  const values: string[] = [];
  const subscription = reader.subscribe(async (messages) => void values.push(...messages.map(({ value }) => value.toString())));
  await eventually(() => expect(values).toContain(last), { timeoutMs: 30_000 });
  await subscription.stop();
}

it("says of which partitions messages since that time were removed, and when their first message was stored", async () => {
  await publish(["1", "2", "3", "4", "5"]);
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
  await publish(["6"]);
  await readUntil("6");
  const { messages, cut } = await rewind();
  expect({ messages, cut }).toEqual({ messages: 1, cut: [{ partition, begins_at: expect.any(String) }] });
  const beginsAt = Date.parse(cut[0]?.begins_at ?? "");
  expect([beginsAt > before - 1_000, beginsAt <= Date.now()]).toEqual([true, true]);
  // Whatever was removed is older than what is left.
  await readUntil("6");
  expect(await rewind(new Date(Date.now() + 60_000))).toMatchObject({ messages: 0, cut: [] });
}, 120_000);
