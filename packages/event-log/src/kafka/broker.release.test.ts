import { eventually, reserveKafkaServer, startKafkaServer, type KafkaServer } from "@brand-records/testkit";
import { message } from "../../test/describe-event-log.ts";
import { configOf, silent } from "../../test/kafka-config.ts";
import type { Intake, Publisher, ReceivedMessage } from "../event-log.ts";
import { openKafkaPublisher, openKafkaReader } from "./kafka-log.ts";

describe("a Kafka log whose broker is unavailable", () => {
  let kafka: KafkaServer;
  let received: ReceivedMessage[];
  let opened: { stop(): Promise<void> }[];
  const receive: Intake = async (messages) => void received.push(...messages);
  const texts = (): string[] => received.map(({ value }) => value.toString());
  const start = () => {
    const config = configOf(kafka.brokers);
    const reader = openKafkaReader(config, "readers", silent);
    const publisher = openKafkaPublisher(config, "writer", silent);
    const subscription = reader.subscribe(receive);
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

  it("rejects publishing and is not ready on both ends until the broker starts, then delivers", async () => {
    kafka = await reserveKafkaServer();
    const { publisher, subscription } = start();
    await expect(publisher.publish([message("sub_1", "lost")])).rejects.toThrow("ECONNREFUSED");
    expect([publisher.isReady(), subscription.isReady()]).toEqual([false, false]);
    expect(await subscription.lag()).toBeUndefined();
    await kafka.start();
    await eventually(() => publisher.publish([message("sub_1", "a")]), { timeoutMs: 30_000 });
    // The first messages of a new topic may be stored twice.
    await eventually(() => expect([...new Set(texts())]).toEqual(["a"]), { timeoutMs: 30_000 });
    expect(subscription.isReady()).toBe(true);
  }, 180_000);

  it.each<[string, (kafka: KafkaServer) => Promise<void>, (kafka: KafkaServer) => Promise<void>]>([
    ["was killed and restarted", (kafka) => kafka.kill(), (kafka) => kafka.start()],
    ["was frozen until both ends had noticed, and thawed", (kafka) => kafka.freeze(), (kafka) => kafka.thaw()],
  ])(
    "loses nothing and keeps the order when the broker %s",
    async (_, interrupt, restore) => {
      kafka = await startKafkaServer();
      const { publisher, subscription } = start();
      await eventually(() => publisher.publish([message("sub_1", "1")]), { timeoutMs: 30_000 });
      await eventually(() => expect([...new Set(texts())]).toEqual(["1"]), { timeoutMs: 30_000 });
      await interrupt(kafka);
      const published = publishWithRetries(publisher, "2");
      await eventually(() => expect(subscription.isReady()).toBe(false), { timeoutMs: 30_000 });
      await restore(kafka);
      await published;
      await publishWithRetries(publisher, "3");
      // A message published during the interruption may be stored twice.
      await eventually(() => expect([...new Set(texts())]).toEqual(["1", "2", "3"]), { timeoutMs: 30_000 });
      expect(texts().at(-1)).toBe("3");
    },
    240_000,
  );
});

/** Retries as the relay does. */
async function publishWithRetries(publisher: Publisher, text: string): Promise<void> {
  await eventually(() => publisher.publish([message("sub_1", text)]), { timeoutMs: 60_000 });
}
