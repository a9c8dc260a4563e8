import { AppError } from "@brand-records/errors";
import { Histogram, SECONDS_BUCKETS, type Logger, type Registry } from "@brand-records/telemetry";
import type {
  MethodDefinition,
  sendUnaryData,
  ServerDuplexStream,
  ServerUnaryCall,
  ServiceDefinition,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { traceIdOf, traceparentFrom, type CallContext } from "./call-context.ts";
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

export interface Observer {
  readonly log: Logger;
  readonly duration: Histogram<"method" | "code">;
}

export function observeCalls(log: Logger, metrics: Registry): Observer {
  const duration = new Histogram({
    name: "rpc_server_duration_seconds",
    help: "Time to serve a gRPC call.",
    labelNames: ["method", "code"],
    buckets: SECONDS_BUCKETS,
    registers: [metrics],
  });
  return { log, duration };
}

type Method = MethodDefinition<unknown, unknown>;

/**
 * Adapts a service to grpc-js: errors become statuses, every call is measured, failures are logged. Responses are
 * serialized here: grpc-js would do it after the call was counted as served, and would not log a failure.
 */
export function implement(
  { definition, handlers }: ServedService,
  observer: Observer,
): { readonly definition: ServiceDefinition; readonly implementation: UntypedServiceImplementation } {
  const implementation: UntypedServiceImplementation = {};
  const serialized: Record<string, Method> = {};
  for (const [name, method] of Object.entries(definition)) {
    const handler = (handlers as Record<string, unknown>)[name];
    implementation[name] = method.requestStream
      ? bidi(method, handler as Bidi<unknown, unknown>, observer)
      : unary(method, handler as Unary<unknown, unknown>, observer);
    serialized[name] = { ...method, responseSerialize: (bytes) => bytes as Buffer };
  }
  return { definition: serialized, implementation };
}

function unary({ path, responseSerialize }: Method, handler: Unary<unknown, unknown>, observer: Observer) {
  return (call: ServerUnaryCall<unknown, unknown>, callback: sendUnaryData<unknown>): void => {
    const observed = observe(path, call, observer);
    const serving = handler(call.request, observed.context).then(responseSerialize);
    serving.then(
      (bytes) => {
        observed.succeeded();
        callback(null, bytes);
      },
      (thrown: unknown) => callback(toStatus(observed.failed(thrown))),
    );
  };
}

function bidi({ path, responseSerialize }: Method, handler: Bidi<unknown, unknown>, observer: Observer) {
  return (call: ServerDuplexStream<unknown, unknown>): void => {
    const observed = observe(path, call, observer);
    // By default a handler that stops reading early destroys the call, and its response is never sent.
    const requests = call.iterator({ destroyOnReturn: false });
    pump(handler(requests, observed.context), responseSerialize, call).then(
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

function observe(path: string, call: AnyCall, { log, duration }: Observer) {
  const startedAt = performance.now();
  const context = contextOf(call);
  const measure = (code: string): number => {
    const seconds = (performance.now() - startedAt) / 1000;
    duration.observe({ method: path, code }, seconds);
    return seconds;
  };
  const fields = { method: path, request_id: context.requestId, trace_id: traceIdOf(context.traceparent) };
  return {
    context,
    succeeded(): void {
      const seconds = measure("ok");
      if (log.isLevelEnabled("debug")) log.debug({ ...fields, duration_ms: seconds * 1000 }, "call served");
    },
    failed(thrown: unknown): AppError {
      const error = AppError.from(thrown);
      const seconds = measure(error.kind);
      const level = error.kind === "internal_error" ? "error" : "debug";
      log[level]({ ...fields, kind: error.kind, duration_ms: seconds * 1000, err: error.cause ?? error.message }, "call failed");
      return error;
    },
  };
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
