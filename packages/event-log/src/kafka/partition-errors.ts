import { createErrorFromCode } from "kafkajs/src/protocol/error.js";
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

/** Returns the error of a partition that has no leader. */
export const leaderNotAvailable = (): Error => createErrorFromCode(5);

/** Whether a batch is larger than the topic, or a segment of its files, may take. */
export function isTooLarge(error: Error): boolean {
  return "type" in error && (error.type === "MESSAGE_TOO_LARGE" || error.type === "RECORD_LIST_TOO_LARGE");
}
