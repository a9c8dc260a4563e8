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
import { contextOf, type EdgeContext } from "./request-context.ts";

/** Statuses of failures on our side. */
const FAILURES = ["500", "503", "504"];

export interface AccessLogOptions<Context extends EdgeContext> {
  readonly log: Logger;
  readonly metrics: Registry;
  /** Routes whose failures alerts count. They are 0 from the start: else a rate does not see the first failures of a route. */
  readonly routes?: readonly string[];
  /** Returns more fields of the line. */
  fieldsOf?(context: Context): Readonly<Record<string, unknown>>;
  /** Observes what the edge counts of its own. @param status 499 if the client disconnected before the response was complete */
  onServed?(context: Context, served: { readonly method: string; readonly status: number; readonly seconds: number }): void;
}

/**
 * Writes one wide log line and observes the duration once per request: when its response is complete or its client has disconnected. The
 * line names neither a person nor a path.
 */
export function accessLog<Context extends EdgeContext>({
  log,
  metrics,
  routes = [],
  fieldsOf,
  onServed,
}: AccessLogOptions<Context>): RequestHandler {
  const duration = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from a request's headers to the end of its response.",
    labelNames: ["route", "status"],
    buckets: SECONDS_BUCKETS,
    registers: [metrics],
  });
  for (const route of routes) for (const status of FAILURES) duration.zero({ route, status });
  return (request, response, next) => {
    response.on("close", () => {
      const context = contextOf<Context>(response);
      const { startedAt, route, requestId, traceparent, span, address, brandId, keyId, errorKind, failure } = context;
      const durationMs = performance.now() - startedAt;
      // nginx's convention.
      const status = response.writableFinished ? response.statusCode : 499;
      duration.observe({ route, status: String(status) }, durationMs / 1000);
      onServed?.(context, { method: request.method, status, seconds: durationMs / 1000 });
      const ids = { ...requestIdAttribute(requestId), [OWN_ATTRIBUTES.brandId]: brandId, [OWN_ATTRIBUTES.keyId]: keyId };
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
        key_id: keyId,
        ...fieldsOf?.(context),
        error: errorKind,
      };
      if (failure === undefined) log.info(line, "request served");
      else logServerError(log, line, failure, "request failed");
    });
    next();
  };
}
