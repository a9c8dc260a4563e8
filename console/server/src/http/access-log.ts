import { logServerError } from "@brand-records/rpc";
import {
  endHttpSpan,
  Histogram,
  OWN_ATTRIBUTES,
  requestIdAttribute,
  SECONDS_BUCKETS,
  traceFields,
  type Logger,
  type Registry,
} from "@brand-records/telemetry";
import type { RequestHandler } from "express";
import { contextOf } from "./request-context.ts";

/** Writes one wide log line and observes the duration once per request. Neither names the person or the path. */
export function accessLog(log: Logger, metrics: Registry): RequestHandler {
  const duration = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from a request's headers to the end of its response.",
    labelNames: ["route", "status"],
    buckets: SECONDS_BUCKETS,
    registers: [metrics],
  });
  return (request, response, next) => {
    response.on("close", () => {
      const { startedAt, route, requestId, traceparent, span, address, brandId, errorKind, failure } = contextOf(response);
      const durationMs = performance.now() - startedAt;
      // 499: the client disconnected before the response was complete (nginx's convention).
      const status = response.writableFinished ? response.statusCode : 499;
      duration.observe({ route, status: String(status) }, durationMs / 1000);
      const ids = { ...requestIdAttribute(requestId), [OWN_ATTRIBUTES.brandId]: brandId };
      endHttpSpan(span, { method: request.method, route, status, errorKind, ids });
      const line = {
        method: request.method,
        route,
        status,
        duration_ms: Math.round(durationMs * 100) / 100,
        request_id: requestId,
        ...traceFields(traceparent),
        client_ip: address,
        brand_id: brandId,
        error: errorKind,
      };
      if (failure === undefined) log.info(line, "request served");
      else logServerError(log, line, failure, "request failed");
    });
    next();
  };
}
