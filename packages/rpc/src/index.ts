export { newCallContext, traceIdOf, traceparentFrom, wellFormedTraceparent, type CallContext } from "./call-context.ts";
export { connectRpc, type ConnectOptions, type RpcClient } from "./connect.ts";
export { service, type Handlers, type ServedService } from "./handlers.ts";
export { serveRpc, type RpcServer, type ServeOptions } from "./serve.ts";
export { isLoopback, MESSAGE_BYTES_MAX, readMutualTls, rpcServerSettings, rpcTlsSettings, type MutualTls } from "./settings.ts";
export { fromServiceError } from "./wire-errors.ts";
