import { randomUUID } from "node:crypto";

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

export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35);

export const spanIdOf = (traceparent: string): string => traceparent.slice(36, 52);

/** Whether spans of this trace are exported. */
export const isSampled = (traceparent: string): boolean => (Number.parseInt(traceparent.charAt(54), 16) & 1) === 1;

/** Returns the same trace context, not sampled. */
export const unsampled = (traceparent: string): string => `${traceparent.slice(0, 53)}00`;

export interface TraceFields {
  readonly trace_id: string;
  readonly span_id: string;
  /** Two hexadecimal digits; `01` is sampled. */
  readonly trace_flags: string;
}

/** Returns the fields of a log line that name its trace, as OpenTelemetry names them. */
export function traceFields(traceparent: string): TraceFields {
  return { trace_id: traceIdOf(traceparent), span_id: spanIdOf(traceparent), trace_flags: traceparent.slice(53) };
}

let ratio = 0;

/** @param share of the traces that begin here, from 0 to 1; 0 while tracing is off */
export function setSamplingRatio(share: number): void {
  ratio = share;
}

/**
 * Decides whether a trace that begins here, or comes from outside, is sampled. By chance alone: neither the sampled flag nor the trace id
 * of a public caller decides, because both are the caller's choice. (A decision by trace id, as SDKs make it, would let a caller try ids.)
 */
export const isChosen = (): boolean => ratio > 0 && Math.random() < ratio;
