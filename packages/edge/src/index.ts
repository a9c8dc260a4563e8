export { accessLog, type AccessLogOptions } from "./access-log.ts";
export { accountsClock } from "./accounts-clock.ts";
export { errorBody, errorHandler, errorObject, type ErrorObject } from "./errors.ts";
export { drain, listen, SERVER_OPTIONS, type HttpServer, httpsOnly } from "./http-server.ts";
export { networkOf, contextOf, giveContext, type Begun, type EdgeContext } from "./request-context.ts";
