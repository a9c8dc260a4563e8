import response from "kafkajs/src/protocol/requests/metadata/v6/response.js";

const LEADER_NOT_AVAILABLE = 5;

const { parse } = response;

/**
 * kafkajs 2.2.4 refuses what brokers say about a topic if one of its partitions has no leader: eight of twelve stopped the four that had
 * one. Here such a partition stays in the list, with the leader -1, which is no broker: nothing is fetched from it, and others go on.
 * Fails as before while no partition has a leader, as of a new topic.
 */
response.parse = (metadata) => {
  const partitions = metadata.topicMetadata.flatMap(({ partitionMetadata }) => partitionMetadata);
  if (partitions.some(({ leader }) => leader >= 0))
    for (const each of partitions) if (each.partitionErrorCode === LEADER_NOT_AVAILABLE) each.partitionErrorCode = 0;
  return parse(metadata);
};
