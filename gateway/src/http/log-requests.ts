import { accessLog } from "@brand-records/edge";
import { Counter, Histogram, SECONDS_BUCKETS, type Logger, type Registry } from "@brand-records/telemetry";
import type { RequestHandler } from "express";
import type { UsageRecorder } from "../usage/usage-recorder.ts";
import { failureOf } from "./failure-of.ts";
import type { RequestContext } from "./request-context.ts";

export interface LogRequestsOptions {
  readonly log: Logger;
  readonly metrics: Registry;
  readonly usage: Pick<UsageRecorder, "countFailure">;
  /** Whose failures alerts count. */
  readonly routes: readonly string[];
}

/** Logs and counts every request; those for operations and messages of assistants by what they ask for, too, and for brands what failed. */
export function logRequests({ log, metrics, usage, routes }: LogRequestsOptions): RequestHandler {
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
  return accessLog<RequestContext>({
    log,
    metrics,
    routes,
    fieldsOf: ({ rpc }) => ({ rpc_method: rpc?.method, rpc_generation: rpc?.generation, tool: rpc?.tool }),
    onServed(context, { method: httpMethod, status, seconds }) {
      const { rpc, operation, errorKind } = context;
      const failure = failureOf(context, httpMethod);
      if (failure !== undefined) usage.countFailure(failure);
      if (rpc !== undefined) {
        const { method, generation = "none", tool = "none" } = rpc;
        messages.inc({ method, generation, tool, error: errorKind ?? "none" });
      }
      if (operation === undefined) return;
      const { name, via } = operation;
      operations.observe({ operation: name, via, error: status === 499 ? "client_gone" : (errorKind ?? "none") }, seconds);
    },
  });
}
