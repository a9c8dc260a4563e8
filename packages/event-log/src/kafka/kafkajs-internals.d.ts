declare module "kafkajs/src/network/requestQueue/index.js" {
  interface RequestQueue {
    pending: unknown[];
    scheduleCheckPendingRequests(): void;
  }
  const RequestQueue: { readonly prototype: RequestQueue };
  export default RequestQueue;
}

declare module "kafkajs/src/cluster/index.js" {
  import type { PartitionMetadata } from "kafkajs";

  export interface PartitionOffset {
    readonly partition: number;
    readonly offset: string;
  }
  export interface TopicOffsets<Partition> {
    readonly topic: string;
    readonly partitions: readonly Partition[];
  }
  export type FetchedOffsets = TopicOffsets<PartitionOffset>[];
  export interface Cluster {
    fetchTopicsOffset(
      topics: readonly (TopicOffsets<{ readonly partition: number }> & { readonly fromBeginning: boolean })[],
    ): Promise<FetchedOffsets>;
    findTopicPartitionMetadata(topic: string): readonly PartitionMetadata[];
  }
  const Cluster: { readonly prototype: Cluster };
  export default Cluster;
}

declare module "kafkajs/src/consumer/offsetManager/index.js" {
  import type { TopicPartition } from "kafkajs";
  import type { Cluster, FetchedOffsets, PartitionOffset, TopicOffsets } from "kafkajs/src/cluster/index.js";

  interface OffsetManager {
    readonly groupId: string;
    readonly topics: readonly string[];
    readonly memberAssignment: Readonly<Record<string, readonly number[]>>;
    readonly resolvedOffsets: Readonly<Record<string, Record<number, string>>>;
    readonly cluster: Pick<Cluster, "fetchTopicsOffset">;
    getCoordinator(): Promise<{
      offsetFetch(request: {
        readonly groupId: string;
        readonly topics: readonly TopicOffsets<{ readonly partition: number }>[];
      }): Promise<{ readonly responses: FetchedOffsets }>;
    }>;
    committedOffsets(): Record<string, Record<number, string>>;
    commitOffsets(offsets: { readonly topics: readonly TopicOffsets<PartitionOffset>[] }): Promise<void>;
    nextOffset(topic: string, partition: number): { toString(): string };
    resolveOffsets(): Promise<void>;
    setDefaultOffset(place: TopicPartition): Promise<void>;
  }
  const OffsetManager: { readonly prototype: OffsetManager };
  export default OffsetManager;
}

declare module "kafkajs/src/protocol/error.js" {
  export function createErrorFromCode(code: number): Error;
}

declare module "kafkajs/src/protocol/requests/metadata/v6/response.js" {
  interface Metadata {
    topicMetadata: { partitionMetadata: { partitionErrorCode: number; leader: number }[] }[];
  }
  const response: { parse(data: Metadata): Promise<Metadata> };
  export default response;
}

declare module "kafkajs/src/protocol/requests/produce/v6/response.js" {
  const response: { parse(data: unknown): Promise<unknown> };
  export default response;
}

declare module "kafkajs/src/protocol/requests/produce/v7/response.js" {
  const response: { parse(data: unknown): Promise<unknown> };
  export default response;
}
