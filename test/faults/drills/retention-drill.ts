import { eventually } from "@brand-records/testkit";
import type { Admin } from "kafkajs";
import { withKafkaAdmin } from "../../kafka.ts";
import type { DrillSystem } from "./drill-system.ts";

/** Changes that are lost: some seconds of the load. */
const LOST_MIN = 8;
const MS_MAX = { timeoutMs: 60_000, everyMs: 250 };

let lost = 0;

type Unread = readonly { readonly partition: number; readonly offset: string; readonly messages: number }[];

const count = (partitions: Unread): number => partitions.reduce((sum, { messages }) => sum + messages, 0);

/** Runs `work` with what webhook has not read of the topic. */
function withUnread<T>({ kafka, stack }: DrillSystem, work: (unread: () => Promise<Unread>, admin: Admin) => Promise<T>): Promise<T> {
  const { topic } = stack;
  return withKafkaAdmin(kafka.brokers, (admin) =>
    work(async () => {
      const [group] = await admin.fetchOffsets({ groupId: `${topic}.webhook`, topics: [topic] });
      const read = new Map(group?.partitions.map(({ partition, offset }) => [partition, Math.max(Number(offset), 0)]));
      const ends = await admin.fetchTopicOffsets(topic);
      return ends.map(({ partition, high }) => ({ partition, offset: high, messages: Number(high) - (read.get(partition) ?? 0) }));
    }, admin),
  );
}

/** Resolves when webhook has read all: killed amid the load, it may have stored what it has not committed. */
const untilRead = (system: DrillSystem): Promise<void> =>
  withUnread(system, async (unread) => {
    let ends = "";
    await eventually(async () => {
      const partitions = await unread();
      const before = ends;
      ends = partitions.map(({ offset }) => offset).join(" ");
      expect([count(partitions), ends]).toEqual([0, before]);
    }, MS_MAX);
  });

/** Removes what the topic has, as retention does, once that is events that webhook has not read. @returns how many those were */
const removeUnread = (system: DrillSystem): Promise<number> =>
  withUnread(system, async (unread, admin) => {
    await eventually(async () => expect(count(await unread())).toBeGreaterThanOrEqual(LOST_MIN), MS_MAX);
    const partitions = await unread();
    await admin.deleteTopicRecords({
      topic: system.stack.topic,
      partitions: partitions.map(({ partition, offset }) => ({ partition, offset })),
    });
    return count(partitions);
  });

export const RETENTION_DRILL = {
  fault: "retention passed",
  alert: "EventsLost",
  answers: {},
  // Webhook is away for the time that its topic keeps events.
  atTimes: { receivers: ["503 unavailable", "504 timeout"] },
  errors: /messages lost: the log removed them before they were read/,
  async apply(system: DrillSystem): Promise<void> {
    await system.load.pause("change");
    await untilRead(system);
    await system.kill("webhook");
    system.load.resume("change");
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
