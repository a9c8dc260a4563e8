import type { Admin, Kafka } from "kafkajs";
import type { LogPosition, ReaderBehind, StoredMessages } from "../event-log.ts";
import { orUnavailable, refusalIn } from "./errors.ts";
import { settingsOf, withAdmin } from "./topics.ts";

/**
 * The messages in a topic. Readers without a group are not known to the brokers, nor are groups that this client may not describe.
 *
 * @param own the group of this service's own readers
 */
export function kafkaStoredMessages(kafka: Kafka, topic: string, own: string): StoredMessages {
  const inTopic = <T>(work: (admin: Admin) => Promise<T>): Promise<T> => orUnavailable(() => withAdmin(kafka, work));
  return {
    end: () =>
      inTopic(async (admin) => {
        const ends = await admin.fetchTopicOffsets(topic);
        const positions = ends.map(({ partition, high }) => ({ partition, offset: Number(high) }));
        return { positions, keptUntil: await keptUntilOf(admin, topic) };
      }),

    removeBefore: (upTo) =>
      inTopic(async (admin) => {
        const ends = await admin.fetchTopicOffsets(topic);
        const low = new Map(ends.map((end) => [end.partition, Number(end.low)]));
        const stored = upTo.filter(({ partition, offset }) => offset > (low.get(partition) ?? offset));
        if (stored.length === 0) return { isDone: true, behind: [] };
        const behind = await readersBehind(admin, { topic, own, low }, stored);
        const keptUntil = await keptUntilOf(admin, topic);
        if (behind.length > 0) return { isDone: false, behind, keptUntil };
        try {
          await admin.deleteTopicRecords({
            topic,
            partitions: stored.map(({ partition, offset }) => ({ partition, offset: String(offset) })),
          });
          return { isDone: true, behind };
        } catch (error) {
          const refused = refusalIn(error);
          if (refused === undefined) throw error;
          return { isDone: false, behind, refused, keptUntil };
        }
      }),
  };
}

/** A group reads the topic if it has committed an offset in it; ours does always. */
async function readersBehind(
  admin: Admin,
  { topic, own, low }: { readonly topic: string; readonly own: string; readonly low: ReadonlyMap<number, number> },
  upTo: readonly LogPosition[],
): Promise<ReaderBehind[]> {
  const { groups } = await admin.listGroups();
  const behind: ReaderBehind[] = [];
  for (const group of new Set([own, ...groups.map(({ groupId }) => groupId)])) {
    const [offsets] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
    const read = new Map(offsets?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
    if (group !== own && [...read.values()].every((offset) => offset < 0)) continue;
    const messages = upTo.reduce(
      (sum, { partition, offset }) => sum + Math.max(0, offset - Math.max(read.get(partition) ?? -1, low.get(partition) ?? 0)),
      0,
    );
    if (messages > 0) behind.push({ group, messages, isOwn: group === own });
  }
  return behind;
}

/** Undefined if the topic keeps messages for ever, or the brokers do not say. */
async function keptUntilOf(admin: Admin, topic: string): Promise<string | undefined> {
  const settings = await settingsOf(admin, topic, ["retention.ms"]).catch((error: unknown) => {
    if (refusalIn(error) === undefined) throw error;
    return new Map<string, string>();
  });
  const retentionMs = Number(settings.get("retention.ms") ?? -1);
  return retentionMs >= 0 ? new Date(Date.now() + retentionMs).toISOString() : undefined;
}
