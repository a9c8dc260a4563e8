import { eventually } from "@brand-records/testkit";
import { Kafka, logLevel } from "kafkajs";
import type { DrillSystem } from "./drill-system.ts";

/** Changes that are lost: some seconds of the load. */
const LOST_MIN = 8;
const MS_MAX = { timeoutMs: 60_000, everyMs: 250 };

let lost = 0;

/** Removes what the topic has, as retention does, once that is events that webhook has not read. @returns how many those were */
async function removeUnread({ kafka: { brokers } }: DrillSystem): Promise<number> {
  const admin = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const topic = (await admin.listTopics()).find((name) => !name.startsWith("__") && !name.endsWith(".dead")) ?? "";
    const unread = async () => {
      const [group] = await admin.fetchOffsets({ groupId: `${topic}.webhook`, topics: [topic] });
      const read = new Map(group?.partitions.map(({ partition, offset }) => [partition, Math.max(Number(offset), 0)]));
      const ends = await admin.fetchTopicOffsets(topic);
      return ends.map(({ partition, high }) => ({ partition, offset: high, messages: Number(high) - (read.get(partition) ?? 0) }));
    };
    const count = (partitions: readonly { readonly messages: number }[]): number =>
      partitions.reduce((sum, { messages }) => sum + messages, 0);
    await eventually(async () => expect(count(await unread())).toBeGreaterThanOrEqual(LOST_MIN), MS_MAX);
    const partitions = await unread();
    await admin.deleteTopicRecords({ topic, partitions: partitions.map(({ partition, offset }) => ({ partition, offset })) });
    return count(partitions);
  } finally {
    await admin.disconnect();
  }
}

export const RETENTION_DRILL = {
  fault: "retention passed",
  alert: "EventsLost",
  answers: {},
  // Webhook is away for the time that its topic keeps events.
  atTimes: { receivers: ["503 unavailable", "504 timeout"] },
  errors: /messages lost: the log removed them before they were read/,
  async apply(system: DrillSystem): Promise<void> {
    await system.kill("webhook");
    lost = await removeUnread(system);
    await system.stack.restart("webhook");
  },
  async during({ prometheus, logOf }: DrillSystem): Promise<void> {
    await eventually(async () => {
      const lines = logOf("webhook").filter(({ msg }) => String(msg).startsWith("messages lost:"));
      expect(lines.reduce((sum, { messages }) => sum + Number(messages), 0)).toBe(lost);
      const [{ value } = { value: 0 }] = await prometheus.query("sum(intake_lost_messages_total)");
      expect(value).toBe(lost);
    }, MS_MAX);
  },
  async heal({ load, platform }: DrillSystem): Promise<void> {
    await load.pause("change");
    await platform.sendAgain(lost);
    load.resume("change");
  },
};
