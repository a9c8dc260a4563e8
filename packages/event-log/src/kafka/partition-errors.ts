import { AsyncLocalStorage } from "node:async_hooks";
import { createErrorFromCode } from "kafkajs/src/protocol/error.js";
import Cluster from "kafkajs/src/cluster/index.js";
import metadata from "kafkajs/src/protocol/requests/metadata/v6/response.js";
import produceV6 from "kafkajs/src/protocol/requests/produce/v6/response.js";
import produceV7 from "kafkajs/src/protocol/requests/produce/v7/response.js";

/**
 * kafkajs 2.2.4 fails the whole response for the error of one partition, and what the others had acknowledged was published again with
 * each attempt. With these versions of the response, of Kafka 2.0 and later, `producer.send` returns the error code of each partition.
 */
for (const produce of [produceV6, produceV7]) produce.parse = async (data) => data;

/** Returns the error of a partition that a producer's response names; undefined if the brokers have acknowledged its messages. */
export function errorOf({ errorCode }: { readonly errorCode: number }): Error | undefined {
  return errorCode === 0 ? undefined : createErrorFromCode(errorCode);
}

export const leaderNotAvailable = (): Error => createErrorFromCode(5);

/** Whether a batch is larger than the topic, or a segment of its files, may take. */
export function isTooLarge(error: Error): boolean {
  return "type" in error && (error.type === "MESSAGE_TOO_LARGE" || error.type === "RECORD_LIST_TOO_LARGE");
}

/** The leader, in metadata, of a partition that has none. */
export const NO_LEADER = -1;

const parseMetadata = metadata.parse;

/**
 * kafkajs 2.2.4 refuses all that brokers say about a topic if one of its partitions has no leader: eight of twelve stopped the four that
 * had one. Here such a partition stays in the list: nothing is fetched from it, and the others go on. Errors of topics are thrown.
 */
metadata.parse = (data) => {
  for (const { partitionMetadata } of data.topicMetadata) {
    for (const partition of partitionMetadata) if (partition.leader === NO_LEADER) partition.partitionErrorCode = 0;
  }
  return parseMetadata(data);
};

const { fetchTopicsOffset } = Cluster.prototype;
const onlyLed = new AsyncLocalStorage<true>();

/** Within `work`, kafkajs reads the offsets of the partitions that have a leader; else it fails for all if one has none. */
export const ofPartitionsWithLeader = <T>(work: () => Promise<T>): Promise<T> => onlyLed.run(true, work);

Cluster.prototype.fetchTopicsOffset = function fetchLed(topics) {
  if (onlyLed.getStore() === undefined) return fetchTopicsOffset.call(this, topics);
  const led = topics.map(({ partitions, ...asked }) => {
    const leaderless = this.findTopicPartitionMetadata(asked.topic).filter(({ leader }) => leader === NO_LEADER);
    return { ...asked, partitions: partitions.filter(({ partition }) => leaderless.every(({ partitionId }) => partitionId !== partition)) };
  });
  return fetchTopicsOffset.call(this, led);
};
