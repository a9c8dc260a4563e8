import { randomUUID } from "node:crypto";
import type { ServerUnaryCall } from "@grpc/grpc-js";

/** What travels with a unit of work from the edge to the last statement. */
export interface CallContext {
  readonly requestId: string;
  /** W3C trace context of the unit of work. */
  readonly traceparent: string;
  /** Milliseconds since the epoch. Nobody works on this any longer after it. */
  readonly deadline: number;
  /** Aborted when the caller has gone. */
  readonly signal?: AbortSignal;
  /** The call being served, so that its cancellation reaches the calls made for it. */
  readonly parent?: ServerUnaryCall<unknown, unknown>;
}

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** A W3C trace context, or null if it is none. */
export function wellFormedTraceparent(given: string | undefined): string | null {
  return given !== undefined && TRACEPARENT.test(given) ? given : null;
}

/** The caller's trace context if it is well formed, else the start of a new trace that nobody samples. */
export function traceparentFrom(given: string | undefined): string {
  const theirs = wellFormedTraceparent(given);
  if (theirs !== null) return theirs;
  const random = randomUUID().replaceAll("-", "");
  return `00-${random}-${random.slice(0, 16)}-00`;
}

export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}
