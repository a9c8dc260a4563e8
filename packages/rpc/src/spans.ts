import { ATTRIBUTES, requestIdAttribute, startSpan, type SpanOptions, type TraceSpan } from "@brand-records/telemetry";
import { status } from "@grpc/grpc-js";
import type { CallContext } from "./call-context.ts";

/** Starts the span of a call, on the side that makes it or on the side that serves it. */
export function startCallSpan(kind: SpanOptions["kind"], path: string, { traceparent, requestId }: CallContext): TraceSpan | undefined {
  const method = path.slice(1);
  const attributes = { [ATTRIBUTES.rpcSystem]: "grpc", [ATTRIBUTES.rpcMethod]: method, ...requestIdAttribute(requestId) };
  return startSpan(method, traceparent, { kind, attributes });
}

/** Statuses that are the server's fault. A span that ends with another one is no failure of the server. */
const SERVER_FAULTS: ReadonlySet<string> = new Set([
  "UNKNOWN",
  "DEADLINE_EXCEEDED",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
]);

export function endServedCall(span: TraceSpan | undefined, code: string): void {
  span?.set({ [ATTRIBUTES.rpcStatus]: code });
  if (SERVER_FAULTS.has(code)) span?.fail(code);
  span?.end();
}

export function endMadeCall(span: TraceSpan | undefined, code: status): void {
  const name = status[code];
  span?.set({ [ATTRIBUTES.rpcStatus]: name });
  if (code !== status.OK) span?.fail(name);
  span?.end();
}
