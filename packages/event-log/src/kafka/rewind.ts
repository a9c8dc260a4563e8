import type { Logger } from "@brand-records/telemetry";
import type { EventLogConfig } from "../settings.ts";
import { openKafka } from "./open-kafka.ts";
import { withAdmin } from "./topics.ts";

export interface Rewound {
  readonly topic: string;
  /** Those whose place has changed. */
  readonly partitions: number;
  /** That will be read again. */
  readonly messages: number;
}

/**
 * Lets the readers of a group begin again with the messages that the log stored at `since` or later, by the writers' clocks. Never skips a message:
 * a partition that was read up to an earlier place stays there. Safe to interrupt and repeat.
 *
 * @throws an error of kafkajs if a reader of the group is running, or the brokers are away
 */
export async function rewindReaders(config: EventLogConfig, groupId: string, since: Date, log: Logger): Promise<Rewound> {
  const { KAFKA_TOPIC: topic } = config;
  const group = `${topic}.${groupId}`;
  return withAdmin(openKafka(config, groupId, log), async (admin) => {
    const [committed] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
    const first = new Map(
      (await admin.fetchTopicOffsetsByTimestamp(topic, since.getTime())).map(({ partition, offset }) => [partition, Number(offset)]),
    );
    // A partition without a committed offset (-1) is read from its beginning anyway.
    const places = (committed?.partitions ?? [])
      .map(({ partition, offset }) => ({ partition, from: Number(offset), to: first.get(partition) ?? Number(offset) }))
      .filter(({ from, to }) => to < from);
    const partitions = places.map(({ partition, to }) => ({ partition, offset: String(to) }));
    if (partitions.length > 0) await admin.setOffsets({ groupId: group, topic, partitions });
    return { topic, partitions: partitions.length, messages: places.reduce((sum, { from, to }) => sum + from - to, 0) };
  });
}
