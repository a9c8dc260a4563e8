import { createErrorFromCode } from "kafkajs/src/protocol/error.js";
import metadata from "kafkajs/src/protocol/requests/metadata/v6/response.js";
import produceV6 from "kafkajs/src/protocol/requests/produce/v6/response.js";
import produceV7 from "kafkajs/src/protocol/requests/produce/v7/response.js";

/** The leader, in metadata, of a partition that has none. */
export const NO_LEADER = -1;

/*
 * kafkajs 2.2.4 fails a whole response for the error of one partition. These versions of the responses, of Kafka 2.1 and later, leave it to
 * the caller: eight partitions without a leader stopped the four others, and what they had acknowledged was published again with each attempt.
 */

const parseMetadata = metadata.parse;

/** A partition without a leader has the leader -1. Errors of topics are thrown. */
metadata.parse = async (data) => {
  for (const { partitionMetadata } of data.topicMetadata) {
    for (const partition of partitionMetadata) if (partition.leader === NO_LEADER) partition.partitionErrorCode = 0;
  }
  return parseMetadata(data);
};

/** `producer.send` returns the error code of each partition. */
for (const produce of [produceV6, produceV7]) produce.parse = async (data) => data;

/** Returns the error of a partition that a producer's response names; undefined if the brokers have acknowledged its messages. */
export function errorOf({ errorCode }: { readonly errorCode: number }): Error | undefined {
  return errorCode === 0 ? undefined : createErrorFromCode(errorCode);
}

export const leaderless = (): Error => createErrorFromCode(5);

/** Whether a batch is larger than the topic, or a segment of its files, may take. */
export function isTooLarge(error: Error): boolean {
  return "type" in error && (error.type === "MESSAGE_TOO_LARGE" || error.type === "RECORD_LIST_TOO_LARGE");
}
