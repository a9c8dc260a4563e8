import { AppError, ERROR_KINDS, isServerError } from "@brand-records/errors";
import { Histogram, SECONDS_BUCKETS, traceFields, traceparentFrom, type Logger, type Registry } from "@brand-records/telemetry";
import {
  Metadata,
  type MethodDefinition,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { CallContext } from "./call-context.ts";
import type { Methods } from "./methods.ts";
import { countServerErrors, logServerError, type ServerErrors } from "./server-errors.ts";
import { endServedCall, startCallSpan } from "./spans.ts";
import { toStatus } from "./wire-errors.ts";

type Unary<Request, Response> = (request: Request, context: CallContext) => Promise<Response>;
/** The requests also end when the caller has gone, so their end means nothing: a commit needs its own message. */
type Bidi<Request, Response> = (requests: AsyncIterable<Request>, context: CallContext) => AsyncIterable<Response>;

/** The functions that serve a service: async functions for unary methods, async generators for bidirectional streams. */
export type Handlers<Service> = {
  [Name in keyof Service]: Service[Name] extends MethodDefinition<infer Request, infer Response>
    ? Service[Name] extends { requestStream: true }
      ? Bidi<Request, Response>
      : Unary<Request, Response>
    : never;
};

export interface ServedService {
  readonly definition: ServiceDefinition;
  readonly handlers: object;
}

/** Pairs a generated service definition with its handlers. */
export function service<Service extends ServiceDefinition>(definition: Service, handlers: Handlers<Service>): ServedService {
  return { definition, handlers };
}

interface Observer {
  readonly log: Logger;
  readonly duration: Histogram<"method" | "code">;
  readonly serverErrors: ServerErrors;
}

export function observeCalls(log: Logger, metrics: Registry): Observer {
  const duration = new Histogram({
    name: "rpc_server_duration_seconds",
    help: "Time to serve a gRPC call, until its handler ends: code timeout if that is after the deadline, request_timeout if the caller has gone.",
    labelNames: ["method", "code"],
    buckets: SECONDS_BUCKETS,
    registers: [metrics],
  });
  return { log, duration, serverErrors: countServerErrors(metrics) };
}

type Method = MethodDefinition<unknown, unknown>;

/** The trailer of a method that writes its own entry of the audit log: a service of 1.0 sends none. */
export const RECORDED_TRAILER = "x-recorded";

/**
 * Adapts a service to grpc-js: errors become statuses, every call is measured, failures are logged. Responses are
 * serialized here: grpc-js would do it after the call was counted as served, and would not log a failure.
 */
export function implement(
  { definition, handlers }: ServedService,
  observer: Observer,
  methods: Methods,
): { readonly definition: ServiceDefinition; readonly implementation: UntypedServiceImplementation } {
  const implementation: UntypedServiceImplementation = {};
  const serialized: Record<string, Method> = {};
  for (const [name, method] of Object.entries(definition)) {
    const handler = (handlers as Record<string, unknown>)[name];
    implementation[name] = method.requestStream
      ? bidi(method, handler as Bidi<unknown, unknown>, observer)
      : unary(method, handler as Unary<unknown, unknown>, observer, trailersOf(methods[method.path]));
    serialized[name] = { ...method, responseSerialize: (bytes) => bytes as Buffer };
  }
  return { definition: serialized, implementation };
}

function trailersOf(facts: Methods[string] | undefined): Metadata {
  const trailers = new Metadata();
  if (facts?.entry !== undefined) trailers.set(RECORDED_TRAILER, "1");
  return trailers;
}

function unary({ path, responseSerialize }: Method, handler: Unary<unknown, unknown>, observer: Observer, trailers: Metadata) {
  return (call: ServerUnaryCall<unknown, unknown>, callback: sendUnaryData<unknown>): void => {
    const observed = observe(path, call, observer);
    const serving = observed.run(() => handler(call.request, observed.context)).then(responseSerialize);
    serving.then(
      (bytes) => {
        observed.succeeded();
        callback(null, bytes, trailers);
      },
      (thrown: unknown) => {
        const failed = toStatus(observed.failed(thrown));
        failed.metadata.merge(trailers);
        callback(failed);
      },
    );
  };
}

function bidi({ path, responseSerialize }: Method, handler: Bidi<unknown, unknown>, observer: Observer) {
  return (call: ServerDuplexStream<unknown, unknown>): void => {
    const observed = observe(path, call, observer);
    // By default a handler that stops reading early destroys the call, and its response is never sent.
    const requests = call.iterator({ destroyOnReturn: false });
    observed
      .run(() => pump(handler(requests, observed.context), responseSerialize, call))
      .then(
        () => {
          observed.succeeded();
          call.end();
        },
        (thrown: unknown) => call.emit("error", toStatus(observed.failed(thrown))),
      );
  };
}

const callerGone = (): AppError => new AppError("request_timeout", "The caller has gone");

async function pump(
  responses: AsyncIterable<unknown>,
  serialize: Method["responseSerialize"],
  call: ServerDuplexStream<unknown, unknown>,
): Promise<void> {
  for await (const response of responses) {
    if (call.cancelled) throw callerGone();
    if (!call.write(serialize(response))) await new Promise<void>((resolve) => whenWritable(call, resolve));
  }
}

/** Resolves when there is room to write again, or the caller has gone. */
function whenWritable(call: ServerDuplexStream<unknown, unknown>, resolve: () => void): void {
  const settle = (): void => {
    call.off("drain", settle);
    call.off("cancelled", settle);
    resolve();
  };
  call.on("drain", settle);
  call.on("cancelled", settle);
}

type AnyCall = ServerUnaryCall<unknown, unknown> | ServerDuplexStream<unknown, unknown>;

function observe(path: string, call: AnyCall, { log, duration, serverErrors }: Observer) {
  const startedAt = performance.now();
  const received = contextOf(call);
  const span = startCallSpan("server", path, received);
  const context = span === undefined ? received : { ...received, traceparent: span.traceparent };
  /** Returns milliseconds, for the log. */
  const measure = (code: string): number => {
    const ms = performance.now() - startedAt;
    duration.observe({ method: path, code }, ms / 1000);
    return Math.round(ms * 100) / 100;
  };
  const fields = (): object => ({ method: path, request_id: context.requestId, ...traceFields(context.traceparent) });
  /** Ends, measures and logs a call whose caller gets `error`. */
  const fail = (error: AppError): void => {
    endServedCall(span, ERROR_KINDS[error.kind].grpc);
    const duration_ms = measure(error.kind);
    const failure = serverErrors.count(error);
    if (failure !== undefined) logServerError(log, { ...fields(), duration_ms }, failure, "call failed");
    else log.debug({ ...fields(), kind: error.kind, duration_ms, err: error.cause ?? error.message }, "call failed");
  };
  return {
    context,
    /** Runs work whose statements belong to the call's span. */
    run: <T>(work: () => T): T => (span === undefined ? work() : span.run(work)),
    succeeded(): void {
      const missed = missedBy(call, context);
      if (missed !== undefined) return fail(missed);
      endServedCall(span, "OK");
      const duration_ms = measure("ok");
      if (log.isLevelEnabled("debug")) log.debug({ ...fields(), duration_ms }, "call served");
    },
    failed(thrown: unknown): AppError {
      const error = AppError.from(thrown);
      // A failure that arose here keeps its reason, however late it is.
      const aroseHere = isServerError(error.kind) && !error.isReported;
      fail((aroseHere ? undefined : missedBy(call, context, error)) ?? error);
      return error;
    },
  };
}

/** Returns why no caller gets the result of a call that ends now; undefined if the caller still waits. */
function missedBy(call: AnyCall, { deadline }: CallContext, error?: AppError): AppError | undefined {
  const lateMs = Date.now() - deadline;
  if (lateMs >= 0) {
    const cause = new Error(`the call ended ${lateMs} ms after its deadline`);
    return new AppError("timeout", "The request took too long. Try again.", { cause, dependency: error?.dependency });
  }
  return call.cancelled ? callerGone() : undefined;
}

function contextOf(call: AnyCall): CallContext {
  const first = (name: string): string | undefined => call.metadata.get(name)[0]?.toString();
  const deadline = call.getDeadline();
  return {
    requestId: first("x-request-id") ?? "none",
    traceparent: traceparentFrom(first("traceparent")),
    deadline: deadline instanceof Date ? deadline.getTime() : deadline,
    parent: call as ServerUnaryCall<unknown, unknown>,
  };
}
