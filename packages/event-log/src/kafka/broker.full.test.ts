import { eventually, reserveKafkaServer, startKafkaServer, type KafkaServer } from "@brand-records/testkit";
import { message } from "../../test/describe-event-log.ts";
import { configOf, silent } from "../../test/kafka-config.ts";
import type { Intake, Publisher, ReceivedMessage } from "../event-log.ts";
import { openKafkaPublisher, openKafkaReader } from "./kafka-log.ts";

describe("a Kafka log whose broker goes away", () => {
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
