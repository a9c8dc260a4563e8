import { logServerError } from "@brand-records/rpc";
import {
  Counter,
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

const FAILURES = ["500", "503", "504"];

/**
 * Writes one wide log line and observes the duration once per request: when its response is complete or its client has disconnected.
 *
 * @param routes whose failures alerts count. They are 0 from the start: else a rate does not see the first failures of a route
 */
export function accessLog(log: Logger, metrics: Registry, routes: readonly string[]): RequestHandler {
  const duration = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from a request's headers to the end of its response.",
    labelNames: ["route", "status"],
    buckets: SECONDS_BUCKETS,
    registers: [metrics],
  });
  for (const route of routes) for (const status of FAILURES) duration.zero({ route, status });
  const operations = new Histogram({
    name: "operation_duration_seconds",
    help: "Time from the headers of a request for an operation to the end of its response, whether a program or an assistant called it.",
    labelNames: ["operation", "via", "error"],
    buckets: SECONDS_BUCKETS,
    registers: [metrics],
  });
  const messages = new Counter({
    name: "mcp_messages_total",
    help: "Messages of assistants by method, protocol generation, tool and error. A tool's refusal counts as an error.",
    labelNames: ["method", "generation", "tool", "error"],
    registers: [metrics],
  });
  // Redacts no nested fields, unlike other logs: every field below is a scalar, and redacting two levels down would double
  // the cost of a line.
  const lines = log.child({}, { redact: ["authorization"] });
  return (request, response, next) => {
    response.on("close", () => {
      const context = contextOf(response);
      const durationMs = performance.now() - context.startedAt;
      // 499: the client disconnected before the response was complete (nginx's convention).
      const status = response.writableFinished ? response.statusCode : 499;
      if (context.rpc !== undefined) {
        const { method, generation = "none", tool = "none" } = context.rpc;
        messages.inc({ method, generation, tool, error: context.errorKind ?? "none" });
      }
      duration.observe({ route: context.route, status: String(status) }, durationMs / 1000);
      if (context.operation !== undefined) {
        const { name, via } = context.operation;
        const error = status === 499 ? "client_gone" : (context.errorKind ?? "none");
        operations.observe({ operation: name, via, error }, durationMs / 1000);
      }
      const { requestId, brandId, keyId } = context;
      const ids = { ...requestIdAttribute(requestId), [OWN_ATTRIBUTES.brandId]: brandId, [OWN_ATTRIBUTES.keyId]: keyId };
      endHttpSpan(context.span, { method: request.method, route: context.route, status, errorKind: context.errorKind, ids });
      const line = {
        method: request.method,
        route: context.route,
        status,
        duration_ms: Math.round(durationMs * 100) / 100,
        request_id: context.requestId,
        ...traceFields(context.traceparent),
        client_ip: context.address,
        brand_id: context.brandId,
        key_id: context.keyId,
        rpc_method: context.rpc?.method,
        rpc_generation: context.rpc?.generation,
        tool: context.rpc?.tool,
        error: context.errorKind,
      };
      if (context.failure === undefined) lines.info(line, "request served");
      else logServerError(lines, line, context.failure, "request failed");
    });
    next();
  };
}
