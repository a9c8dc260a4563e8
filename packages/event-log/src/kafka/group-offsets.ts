import type { ConsumerCommitOffsetsEvent } from "kafkajs";
import OffsetManager from "kafkajs/src/consumer/offsetManager/index.js";

/** An offset that a broker refused, because the log begins after it, or ends before it. */
export interface RefusedOffset {
  readonly partition: number;
  readonly refused: number;
  /** Where the log begins: the group goes on there. */
  readonly low: number;
  readonly high: number;
}

/** Travels from the commit of `low` to those who listen to the consumer's commits. */
interface RefusedCommit extends Partial<RefusedOffset> {
  readonly partition: number;
  readonly offset: string;
}

/** Returns the offsets in a commit that replace refused ones. */
export const refusedIn = ({ payload }: ConsumerCommitOffsetsEvent): RefusedOffset[] =>
  payload.topics.flatMap(({ partitions }) =>
    partitions.filter((each): each is RefusedOffset & RefusedCommit => (each as RefusedCommit).refused !== undefined),
  );

const { prototype } = OffsetManager;

/**
 * kafkajs 2.2.4 goes on at the log's beginning without a word, where a group has no offset and where a broker refuses one. Here a group
 * without an offset begins at 0, which the broker refuses, too, if it has removed messages: whatever was passed over is then counted below.
 */
prototype.resolveOffsets = async function resolveFromZero(): Promise<void> {
  const topics = this.topics
    .map((topic) => {
      const known = this.committedOffsets()[topic] ?? {};
      const unknown = this.memberAssignment[topic]?.filter((partition) => known[partition] === undefined) ?? [];
      return { topic, partitions: unknown.map((partition) => ({ partition })) };
    })
    .filter(({ partitions }) => partitions.length > 0);
  if (topics.length === 0) return;
  const coordinator = await this.getCoordinator();
  const { responses } = await coordinator.offsetFetch({ groupId: this.groupId, topics });
  for (const { topic, partitions } of responses) {
    const read = partitions.map(({ partition, offset }) => [partition, Number(offset) < 0 ? "0" : offset] as const);
    this.committedOffsets()[topic] = { ...this.committedOffsets()[topic], ...Object.fromEntries(read) };
  }
};

/**
 * A broker has refused an offset as out of range. kafkajs would commit -2, and with that forget what was not read. This commits the
 * first offset of the log, and hands out what that passes over with the commit: it is counted once, whatever restarts.
 */
prototype.setDefaultOffset = async function beginAtLow({ topic, partition }): Promise<void> {
  const refused = Number(this.nextOffset(topic, partition).toString());
  const endOf = async (fromBeginning: boolean): Promise<number> => {
    const [found] = await this.cluster.fetchTopicsOffset([{ topic, partitions: [{ partition }], fromBeginning }]);
    const offset = Number(found?.partitions[0]?.offset);
    if (!Number.isSafeInteger(offset))
      throw new Error(`the brokers do not say where partition ${partition} of ${topic} ${fromBeginning ? "begins" : "ends"}`);
    return offset;
  };
  const [low, high] = await Promise.all([endOf(true), endOf(false)]);
  const commit: RefusedCommit = { partition, offset: String(low), refused, low, high };
  await this.commitOffsets({ topics: [{ topic, partitions: [commit] }] });
  // Else the next fetch would begin there again.
  delete this.resolvedOffsets[topic]?.[partition];
};
