import type { Admin, Kafka } from "kafkajs";
import type { LogEnd, LogPosition, ReaderBehind, Removal, StoredMessages } from "../event-log.ts";
import { orUnavailable, refusalIn } from "./errors.ts";
import { TOPIC_RESOURCE, withAdmin } from "./topics.ts";

interface KafkaStoredMessagesOptions {
  readonly kafka: Kafka;
  readonly topic: string;
  /** The group of this service's own readers. */
  readonly groupId: string;
}

/** The messages in a topic. Readers without a group are not known to the brokers, nor are groups that this client may not describe. */
export class KafkaStoredMessages implements StoredMessages {
  readonly #options: KafkaStoredMessagesOptions;

  constructor(options: KafkaStoredMessagesOptions) {
    this.#options = options;
  }

  end(): Promise<LogEnd> {
    const { topic } = this.#options;
    return this.#withAdmin(async (admin) => {
      const ends = await admin.fetchTopicOffsets(topic);
      const positions = ends.map(({ partition, high }) => ({ partition, offset: Number(high) }));
      return { positions, keptUntil: await keptUntilOf(admin, topic) };
    });
  }

  removeBefore(upTo: readonly LogPosition[]): Promise<Removal> {
    const { topic } = this.#options;
    return this.#withAdmin(async (admin) => {
      const ends = await admin.fetchTopicOffsets(topic);
      const low = new Map(ends.map((end) => [end.partition, Number(end.low)]));
      const stored = upTo.filter(({ partition, offset }) => offset > (low.get(partition) ?? offset));
      if (stored.length === 0) return { isDone: true, behind: [] };
      const behind = await this.#behind(admin, stored, low);
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
    });
  }

  /** A group reads the topic if it has committed an offset in it; ours does always. */
  async #behind(admin: Admin, upTo: readonly LogPosition[], low: ReadonlyMap<number, number>): Promise<ReaderBehind[]> {
    const { topic, groupId: own } = this.#options;
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

  #withAdmin<T>(work: (admin: Admin) => Promise<T>): Promise<T> {
    return orUnavailable(() => withAdmin(this.#options.kafka, work));
  }
}

/** Undefined if the topic keeps messages for ever, or the brokers do not say. */
async function keptUntilOf(admin: Admin, topic: string): Promise<string | undefined> {
  const { resources } = await admin
    .describeConfigs({ includeSynonyms: false, resources: [{ type: TOPIC_RESOURCE, name: topic, configNames: ["retention.ms"] }] })
    .catch((error: unknown) => {
      if (refusalIn(error) === undefined) throw error;
      return { resources: [] };
    });
  const retentionMs = Number(resources[0]?.configEntries[0]?.configValue ?? -1);
  return retentionMs >= 0 ? new Date(Date.now() + retentionMs).toISOString() : undefined;
}
