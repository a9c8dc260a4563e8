export { newCallContext, traceIdOf, traceparentFrom, wellFormedTraceparent, type CallContext } from "./call-context.ts";
export { connectRpc, type ConnectOptions, type RpcClient } from "./connect.ts";
export { service, type Handlers, type ServedService } from "./handlers.ts";
export { serveRpc, type RpcServer, type ServeOptions } from "./serve.ts";
export { MESSAGE_BYTES_MAX, rpcServerSettings, rpcTlsSettings } from "./settings.ts";
export { fromServiceError } from "./wire-errors.ts";
