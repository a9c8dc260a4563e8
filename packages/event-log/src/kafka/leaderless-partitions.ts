import metadata from "kafkajs/src/protocol/requests/metadata/v6/response.js";

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
