import type * as OpenTelemetry from "@opentelemetry/api";
import type { Attributes, Context, Link, Span, Tracer } from "@opentelemetry/api";
import { ATTRIBUTES } from "./attributes.ts";
import { isChosen, isSampled, spanIdOf, traceIdOf, traceparentFrom, unsampled, wellFormedTraceparent } from "./trace-context.ts";

/** OpenTelemetry's limit for one span. */
const LINKS_MAX = 128;

const KINDS = { server: "SERVER", client: "CLIENT", producer: "PRODUCER", consumer: "CONSUMER", internal: "INTERNAL" } as const;

export interface SpanOptions {
  readonly kind: keyof typeof KINDS;
  readonly attributes?: Attributes;
  /** Sampled trace contexts of other work that this span belongs to. Those beyond 128 are left out. */
  readonly links?: readonly string[];
  /** Default: now. */
  readonly startedAt?: Date;
}

interface Tracing {
  readonly tracer: Tracer;
  /** OpenTelemetry is passed in, not imported: its 51 modules are a tenth of those that a process would load, and only tracing uses them. */
  readonly api: typeof OpenTelemetry;
}

/** Undefined while tracing is off. */
let tracing: Tracing | undefined;

export function setTracing(started: Tracing | undefined): void {
  tracing = started;
}

/** A span that will be exported. There are none for unsampled work, which therefore costs nothing. */
export class TraceSpan {
  readonly #api: Tracing["api"];
  readonly #span: Span;
  /** This span's own: the parent of the work that it covers. */
  readonly traceparent: string;

  constructor(api: Tracing["api"], span: Span) {
    this.#api = api;
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
    this.#span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
  }

  end(): void {
    this.#span.end();
  }

  /** Runs work whose statements become children of this span. Everything else passes trace contexts explicitly. */
  run<T>(work: () => T): T {
    const { context, ROOT_CONTEXT, trace } = this.#api;
    return context.with(trace.setSpan(ROOT_CONTEXT, this.#span), work);
  }
}

/** Starts a span under a trace context; undefined if that is not sampled, or tracing is off. */
export function startSpan(name: string, parent: string, options: SpanOptions): TraceSpan | undefined {
  if (tracing === undefined || !isSampled(parent)) return undefined;
  return start(tracing, name, options, contextFrom(tracing, parent));
}

/** Starts a span that begins a trace of its own; undefined if tracing is off. The caller decides that it is sampled. */
export function startRootSpan(name: string, options: SpanOptions): TraceSpan | undefined {
  return tracing === undefined ? undefined : start(tracing, name, options, tracing.api.ROOT_CONTEXT);
}

/** Starts a span under the one whose `run` is under way; undefined if there is none. */
export function startChildSpan(name: string, options: SpanOptions): TraceSpan | undefined {
  if (tracing === undefined || tracing.api.trace.getActiveSpan() === undefined) return undefined;
  return start(tracing, name, options, tracing.api.context.active());
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
  if (tracing === undefined || !isChosen()) return { traceparent: unsampled(traceparentFrom(given)), span: undefined };
  const caller = wellFormedTraceparent(given);
  const span = start(tracing, name, options, caller === null ? tracing.api.ROOT_CONTEXT : contextFrom(tracing, caller));
  return { traceparent: span.traceparent, span };
}

/**
 * Starts a span of a batch, with links to the work that its items come from. It is part of their trace if that is one trace, else it
 * begins a trace. Undefined if none is sampled.
 */
export function startBatchSpan(name: string, items: readonly (string | null)[], options: SpanOptions): TraceSpan | undefined {
  if (tracing === undefined) return undefined;
  const [first, ...others] = new Set(items.filter((item): item is string => item !== null && isSampled(item)));
  if (first === undefined) return undefined;
  const links = [first, ...others];
  const isOneTrace = links.every((item) => traceIdOf(item) === traceIdOf(first));
  return start(tracing, name, { ...options, links }, isOneTrace ? contextFrom(tracing, first) : tracing.api.ROOT_CONTEXT);
}

function start({ tracer, api }: Tracing, name: string, options: SpanOptions, parent: Context): TraceSpan {
  const { kind, attributes, links = [], startedAt } = options;
  const started = tracer.startSpan(
    name,
    {
      kind: api.SpanKind[KINDS[kind]],
      ...(attributes !== undefined && { attributes }),
      ...(links.length > 0 && { links: links.slice(0, LINKS_MAX).map((link): Link => ({ context: spanContextFrom(api, link) })) }),
      ...(startedAt !== undefined && { startTime: startedAt }),
    },
    parent,
  );
  return new TraceSpan(api, started);
}

const contextFrom = ({ api }: Tracing, traceparent: string): Context =>
  api.trace.setSpanContext(api.ROOT_CONTEXT, spanContextFrom(api, traceparent));

/** Sampled: spans are started only for traces that are. */
function spanContextFrom({ TraceFlags }: Tracing["api"], traceparent: string) {
  return { traceId: traceIdOf(traceparent), spanId: spanIdOf(traceparent), traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

export interface ServedRequest {
  readonly method: string;
  /** The route that matched, never the path. */
  readonly route: string;
  readonly status: number;
  readonly errorKind: string | undefined;
  readonly ids: Attributes;
}

/** Ends the span of a request that was served: names it by method and route, and marks it as failed if the status is 5xx. */
export function endHttpSpan(span: TraceSpan | undefined, { method, route, status, errorKind, ids }: ServedRequest): void {
  if (span === undefined) return;
  span.rename(`${method} ${route}`);
  span.set({ [ATTRIBUTES.httpMethod]: method, [ATTRIBUTES.httpRoute]: route, [ATTRIBUTES.httpStatus]: status, ...ids });
  if (status >= 500) span.fail(errorKind ?? String(status));
  span.end();
}
