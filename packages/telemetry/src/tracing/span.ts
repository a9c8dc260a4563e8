import {
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Link,
  type Span,
  type Tracer,
} from "@opentelemetry/api";
import { ATTRIBUTES } from "./attributes.ts";
import { isChosen } from "./sampling.ts";
import { isSampled, spanIdOf, traceIdOf, traceparentFrom, unsampled, wellFormedTraceparent } from "./trace-context.ts";

/** OpenTelemetry's limit for one span. */
const LINKS_MAX = 128;

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const;

export interface SpanOptions {
  readonly kind: keyof typeof KINDS;
  readonly attributes?: Attributes;
  /** Sampled trace contexts of other work that this span belongs to. Those beyond 128 are left out. */
  readonly links?: readonly string[];
  /** Default: now. */
  readonly startedAt?: Date;
}

/** Undefined while tracing is off. */
let tracer: Tracer | undefined;

export function setTracer(started: Tracer | undefined): void {
  tracer = started;
}

/** A span that will be exported. There are none for unsampled work, which therefore costs nothing. */
export class TraceSpan {
  readonly #span: Span;
  /** This span's own: the parent of the work that it covers. */
  readonly traceparent: string;

  constructor(span: Span) {
    this.#span = span;
    const { traceId, spanId } = span.spanContext();
    this.traceparent = `00-${traceId}-${spanId}-01`;
  }

  rename(name: string): void {
    this.#span.updateName(name);
  }

  /** Leaves out attributes without a value. */
  set(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  /** @param errorType a kind or a code, never a message: messages may quote what callers sent */
  fail(errorType: string): void {
    this.#span.setAttribute(ATTRIBUTES.errorType, errorType);
    this.#span.setStatus({ code: SpanStatusCode.ERROR });
  }

  end(): void {
    this.#span.end();
  }

  /** Runs work whose statements become children of this span. Everything else passes trace contexts explicitly. */
  run<T>(work: () => T): T {
    return context.with(trace.setSpan(ROOT_CONTEXT, this.#span), work);
  }
}

/** Starts a span under a trace context; undefined if that is not sampled, or tracing is off. */
export function startSpan(name: string, parent: string, options: SpanOptions): TraceSpan | undefined {
  if (tracer === undefined || !isSampled(parent)) return undefined;
  return start(tracer, name, options, contextFrom(parent));
}

/** Starts a span that begins a trace of its own; undefined if tracing is off. The caller decides that it is sampled. */
export function startRootSpan(name: string, options: SpanOptions): TraceSpan | undefined {
  return tracer === undefined ? undefined : start(tracer, name, options, ROOT_CONTEXT);
}

/** Starts a span under the one whose `run` is under way; undefined if there is none. */
export function startChildSpan(name: string, options: SpanOptions): TraceSpan | undefined {
  if (tracer === undefined || trace.getActiveSpan() === undefined) return undefined;
  return start(tracer, name, options, context.active());
}

export interface EdgeSpan {
  /** The span's, if there is one. Otherwise unsampled: the processes behind this one make no spans either. */
  readonly traceparent: string;
  readonly span: TraceSpan | undefined;
}

/**
 * Begins the trace of a request from outside. Continues the caller's trace, if its context is well formed, but decides about
 * sampling itself.
 */
export function startEdgeSpan(name: string, given: string | undefined, options: SpanOptions): EdgeSpan {
  if (tracer === undefined || !isChosen()) return { traceparent: unsampled(traceparentFrom(given)), span: undefined };
  const caller = wellFormedTraceparent(given);
  const span = start(tracer, name, options, caller === null ? ROOT_CONTEXT : contextFrom(caller));
  return { traceparent: span.traceparent, span };
}

/**
 * Starts a span of a batch, with links to the work that its items come from. It is part of their trace if that is one trace, else it
 * begins a trace. Undefined if none is sampled.
 */
export function startBatchSpan(name: string, items: readonly (string | null)[], options: SpanOptions): TraceSpan | undefined {
  if (tracer === undefined) return undefined;
  const [first, ...others] = new Set(items.filter((item): item is string => item !== null && isSampled(item)));
  if (first === undefined) return undefined;
  const links = [first, ...others];
  const isOneTrace = links.every((item) => traceIdOf(item) === traceIdOf(first));
  return start(tracer, name, { ...options, links }, isOneTrace ? contextFrom(first) : ROOT_CONTEXT);
}

function start(on: Tracer, name: string, { kind, attributes, links = [], startedAt }: SpanOptions, parent: Context): TraceSpan {
  const options = {
    kind: KINDS[kind],
    ...(attributes !== undefined && { attributes }),
    ...(links.length > 0 && { links: links.slice(0, LINKS_MAX).map(linkTo) }),
    ...(startedAt !== undefined && { startTime: startedAt }),
  };
  return new TraceSpan(on.startSpan(name, options, parent));
}

const linkTo = (traceparent: string): Link => ({ context: spanContextFrom(traceparent) });

const contextFrom = (traceparent: string): Context => trace.setSpanContext(ROOT_CONTEXT, spanContextFrom(traceparent));

/** Sampled: spans are started only for traces that are. */
function spanContextFrom(traceparent: string) {
  return { traceId: traceIdOf(traceparent), spanId: spanIdOf(traceparent), traceFlags: TraceFlags.SAMPLED, isRemote: true };
}
