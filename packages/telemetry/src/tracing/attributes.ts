/**
 * Names of span attributes by OpenTelemetry's semantic conventions 1.45, which a test compares with their package, and our own. A
 * span holds no URL path or query, no header, no body and no statement: they may contain secrets or personal data.
 */
export const ATTRIBUTES = {
  errorType: "error.type",
  serverAddress: "server.address",
  serverPort: "server.port",
  httpMethod: "http.request.method",
  httpRoute: "http.route",
  httpStatus: "http.response.status_code",
  httpResendCount: "http.request.resend_count",
  rpcSystem: "rpc.system.name",
  rpcMethod: "rpc.method",
  rpcStatus: "rpc.response.status_code",
  dbSystem: "db.system.name",
  dbSummary: "db.query.summary",
  dbStatus: "db.response.status_code",
  messagingSystem: "messaging.system",
  messagingDestination: "messaging.destination.name",
  messagingOperation: "messaging.operation.name",
  messagingOperationType: "messaging.operation.type",
  messagingBatchSize: "messaging.batch.message_count",
  messagingGroup: "messaging.consumer.group.name",
  mcpMethod: "mcp.method.name",
  genAiOperation: "gen_ai.operation.name",
  genAiTool: "gen_ai.tool.name",
} as const;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns the attribute of a request's id: none if its caller has chosen it, unless as a UUID. Other text may say anything. */
export const requestIdAttribute = (requestId: string): { readonly "brand_records.request.id"?: string } =>
  UUID.test(requestId) ? { "brand_records.request.id": requestId } : {};

/** Ours: ids for a search, as in the log. */
export const OWN_ATTRIBUTES = {
  brandId: "brand_records.brand.id",
  keyId: "brand_records.key.id",
  eventId: "brand_records.event.id",
  receiverId: "brand_records.receiver.id",
  deliveryId: "brand_records.delivery.id",
} as const;
