import type { Logger } from "@brand-records/telemetry";
import type { Admin } from "kafkajs";
import type { EventLogConfig } from "../settings.ts";
import { openKafka } from "./open-kafka.ts";
import { withAdmin } from "./topics.ts";

/** How precisely the time of a first message is found: half as much is one call more. */
const PRECISION_MS = 1_000;

/** A partition that may lack messages of the asked time: what was before its first message was removed, or its retention is over. */
export interface CutPartition {
  readonly partition: number;
  /** RFC 3339, to the second: when its first message was stored. Null if it has none. */
  readonly begins_at: string | null;
}

export interface Rewound {
  readonly topic: string;
  /** Those whose place has changed. */
  readonly partitions: number;
  /** That will be read again. */
  readonly messages: number;
  readonly cut: readonly CutPartition[];
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
    const first = await placesAt(admin, topic, since.getTime());
    // A partition without a committed offset (-1) is read from its beginning anyway.
    const places = (committed?.partitions ?? [])
      .map(({ partition, offset }) => ({ partition, from: Number(offset), to: first.get(partition) ?? Number(offset) }))
      .filter(({ from, to }) => to < from);
    const partitions = places.map(({ partition, to }) => ({ partition, offset: String(to) }));
    if (partitions.length > 0) await admin.setOffsets({ groupId: group, topic, partitions });
    const messages = places.reduce((sum, { from, to }) => sum + from - to, 0);
    return { topic, partitions: partitions.length, messages, cut: await cutPartitions(admin, topic, since, first) };
  });
}

/** Returns the offset of each partition's first message of this time or later, or its end. */
async function placesAt(admin: Admin, topic: string, timeMs: number): Promise<Map<number, number>> {
  const places = await admin.fetchTopicOffsetsByTimestamp(topic, timeMs);
  return new Map(places.map(({ partition, offset }) => [partition, Number(offset)]));
}

/** A partition whose first message is older than `since` has all later ones, and so has one from which nothing was ever removed. */
async function cutPartitions(admin: Admin, topic: string, since: Date, first: ReadonlyMap<number, number>): Promise<CutPartition[]> {
  const cut: CutPartition[] = [];
  for (const { partition, low: lowText, high } of await admin.fetchTopicOffsets(topic)) {
    const low = Number(lowText);
    if (low === 0 || (first.get(partition) ?? 0) > low) continue;
    const begins_at = low < Number(high) ? await beginningOf(admin, topic, { partition, low }, since) : null;
    cut.push({ partition, begins_at });
  }
  return cut;
}

/** kafkajs returns no times of messages, but which message is the first of a time or later. */
async function beginningOf(
  admin: Admin,
  topic: string,
  { partition, low }: { readonly partition: number; readonly low: number },
  since: Date,
): Promise<string> {
  let [earliest, later] = [since.getTime(), Date.now()];
  while (later - earliest > PRECISION_MS) {
    const middle = Math.floor((earliest + later) / 2);
    if (((await placesAt(admin, topic, middle)).get(partition) ?? low) > low) later = middle;
    else earliest = middle;
  }
  return new Date(earliest).toISOString();
}
