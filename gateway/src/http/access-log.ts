import { traceIdOf } from "@brand-records/rpc";
import { Counter, Histogram, SECONDS_BUCKETS, type Logger, type Registry } from "@brand-records/telemetry";
import type { RequestHandler } from "express";
import { contextOf } from "./request-context.ts";

/** Writes one wide log line and observes the duration once per request: when its response is complete or its client has disconnected. */
export function accessLog(log: Logger, metrics: Registry): RequestHandler {
  const duration = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from a request's headers to the end of its response.",
    labelNames: ["route", "status"],
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
      lines.info(
        {
          method: request.method,
          route: context.route,
          status,
          duration_ms: Math.round(durationMs * 100) / 100,
          request_id: context.requestId,
          trace_id: traceIdOf(context.traceparent),
          client_ip: request.ip,
          brand_id: context.brandId,
          key_id: context.keyId,
          rpc_method: context.rpc?.method,
          rpc_generation: context.rpc?.generation,
          tool: context.rpc?.tool,
          error: context.errorKind,
        },
        "request served",
      );
    });
    next();
  };
}
