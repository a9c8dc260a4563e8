export { accessLog, type AccessLogOptions } from "./access-log.ts";
export { accountsClock } from "./accounts-clock.ts";
export { errorBody, errorHandler, errorObject, type ErrorObject } from "./errors.ts";
export { drain, listen, SERVER_OPTIONS, type HttpServer } from "./http-server.ts";
export { httpsOnly } from "./https-only.ts";
export { networkOf } from "./network-of.ts";
export { contextOf, giveContext, type Begun, type EdgeContext } from "./request-context.ts";
