declare module "kafkajs/src/network/requestQueue/index.js" {
  interface RequestQueue {
    pending: unknown[];
    scheduleCheckPendingRequests(): void;
  }
  const RequestQueue: { readonly prototype: RequestQueue };
  export default RequestQueue;
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
