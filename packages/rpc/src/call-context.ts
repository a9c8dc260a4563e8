import { randomUUID } from "node:crypto";
import { traceparentFrom } from "@brand-records/telemetry";
import type { ServerUnaryCall } from "@grpc/grpc-js";
import type { Person } from "./person.ts";

/** The context of a unit of work, passed from the edge to the last statement. */
export interface CallContext {
  readonly requestId: string;
  /** W3C trace context. */
  readonly traceparent: string;
  /** Milliseconds since the epoch. Work on the call stops then. */
  readonly deadline: number;
  /** Aborted when the caller has gone. */
  readonly signal?: AbortSignal;
  /** Grants by the name of a service: a call of that service carries it. */
  readonly grants?: Readonly<Record<string, string>>;
  /** Whom the call being served acts for, as its grant has proved. */
  readonly person?: Person;
  /** The call being served: its cancellation and deadline reach the calls made for it. */
  readonly parent?: ServerUnaryCall<unknown, unknown>;
}

/** Returns the context of work that no caller asked for: a new trace, ending after `withinMs`. */
export function newCallContext(withinMs: number, requestId: string = randomUUID()): CallContext {
  return { requestId, traceparent: traceparentFrom(undefined), deadline: Date.now() + withinMs };
}
