import { randomUUID } from "node:crypto";
import type { ServerUnaryCall } from "@grpc/grpc-js";

/** The context of a unit of work, passed from the edge to the last statement. */
export interface CallContext {
  readonly requestId: string;
  /** W3C trace context. */
  readonly traceparent: string;
  /** Milliseconds since the epoch. Work on the call stops then. */
  readonly deadline: number;
  /** Aborted when the caller has gone. */
  readonly signal?: AbortSignal;
  /** The call being served: its cancellation and deadline reach the calls made for it. */
  readonly parent?: ServerUnaryCall<unknown, unknown>;
}

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Returns the W3C trace context if it is well formed, else null. */
export function wellFormedTraceparent(traceparent: string | undefined): string | null {
  return traceparent !== undefined && TRACEPARENT.test(traceparent) ? traceparent : null;
}

/** Returns the caller's trace context if it is well formed, else a new one, not sampled. */
export function traceparentFrom(traceparent: string | undefined): string {
  const wellFormed = wellFormedTraceparent(traceparent);
  if (wellFormed !== null) return wellFormed;
  const random = randomUUID().replaceAll("-", "");
  return `00-${random}-${random.slice(0, 16)}-00`;
}

/** Returns the context of work that no caller asked for: a new trace, ending after `withinMs`. */
export function newCallContext(withinMs: number, requestId: string = randomUUID()): CallContext {
  return { requestId, traceparent: traceparentFrom(undefined), deadline: Date.now() + withinMs };
}

export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}
