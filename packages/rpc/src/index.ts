export { traceIdOf, traceparentFrom, wellFormedTraceparent, type CallContext } from "./call-context.ts";
export { connectRpc, type ConnectOptions, type RpcClient } from "./connect.ts";
export { service, type Handlers, type ServedService } from "./handlers.ts";
export { MESSAGE_BYTES_MAX } from "./message-size.ts";
export { serveRpc, type RpcServer, type ServeOptions } from "./serve.ts";
export { rpcServerSettings, rpcTlsSettings } from "./settings.ts";
export { fromServiceError, toStatus } from "./wire-errors.ts";
