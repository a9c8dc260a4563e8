declare module "kafkajs/src/network/requestQueue/index.js" {
  interface RequestQueue {
    pending: unknown[];
    scheduleCheckPendingRequests(): void;
  }
  const RequestQueue: { readonly prototype: RequestQueue };
  export default RequestQueue;
}
