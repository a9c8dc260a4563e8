import { AppError, type Dependency } from "@brand-records/errors";
import { CALLERS } from "@brand-records/proto/methods";
import type { Registry, TraceSpan } from "@brand-records/telemetry";
import {
  Client,
  Metadata,
  propagate,
  status,
  type CallOptions,
  type ChannelOptions,
  type ClientDuplexStream,
  type ClientUnaryCall,
  type MethodDefinition,
  type ServiceDefinition,
  type ServiceError,
  type StatusObject,
} from "@grpc/grpc-js";
import { StreamDecoder } from "@grpc/grpc-js/build/src/stream-decoder.js";
import { GRANT_METADATA } from "./actors.ts";
import type { CallContext } from "./call-context.ts";
import { Certificates } from "./certificates.ts";
import { measureCalls, type MeasureCall } from "./client-durations.ts";
import { connected } from "./connected.ts";
import { channelCredentials } from "./credentials.ts";
import { MESSAGE_BYTES_MAX, type rpcTlsSettings } from "./settings.ts";
import { OWN_METHODS, type Methods } from "./methods.ts";
import { endMadeCall, startCallSpan } from "./spans.ts";
import { fromServiceError } from "./wire-errors.ts";

/** A typed client: unary methods return promises, bidirectional methods the grpc-js stream. */
export type RpcClient<Service> = {
  [Name in keyof Service]: Service[Name] extends MethodDefinition<infer Request, infer Response>
    ? Service[Name] extends { requestStream: true }
      ? (context: CallContext) => ClientDuplexStream<Request, Response>
      : (request: Request, context: CallContext) => Promise<Response>
    : never;
} & RpcConnection;

export interface RpcConnection {
  /** Connects now, not with the first call. Resolves once it has connected or failed to, after two seconds at most; it goes on in the background then. */
  connected(): Promise<void>;
  stop(): void;
}

export interface ConnectOptions {
  readonly config?: { readonly [Name in keyof typeof rpcTlsSettings]?: string | undefined };
  /** Measures the calls. Clients of one process share a registry. */
  readonly metrics?: Registry;
  /** What the methods say of themselves: idempotent ones are repeated after UNAVAILABLE. Default: what their proto says. */
  readonly methods?: Methods;
}

/**
 * Finds a frozen process within 2.5 s, half of a request's deadline: its connection is given up, and the calls on it are retried at
 * another process. Without pings one of two frozen records processes failed 72 of 438 pages, each after 5 s. A process that answers slowly
 * answers pings, so a slow database makes no retries. Not sooner: with a timeout of 600 ms, 500 simultaneous requests on busy cores kept
 * processes from their pings for longer, and healthy connections were given up. Not for methods that cannot be retried: a ping breaks
 * off calls on a connection that drains.
 */
const PINGS = { "grpc.keepalive_time_ms": 500, "grpc.keepalive_timeout_ms": 2_000 } as const;

/**
 * Of the clients of a process to one address. A try that fails takes a token, one that succeeds returns one, and with half of the tokens
 * left there are no retries: a service of which every process is overloaded gets at most as many retries as calls succeed. Enough for
 * the calls in flight to a frozen process, and if one process of two fails every call.
 */
const RETRY_THROTTLING = { maxTokens: 1_000, tokenRatio: 1 } as const;

/**
 * What a service may send on a connection before its client has read it. By default 64 KiB for all calls together: four pages of 50, then
 * the others wait for the client's turn.
 */
const RECEIVE_WINDOW_BYTES = 1024 * 1024;

/**
 * Returns a client for `address`: `host:port`, `dns:///name:port` (all its addresses share the load), or
 * `ipv4:a:port,b:port`. It connects on demand and reconnects automatically.
 */
export function connectRpc<Service extends ServiceDefinition>(
  definition: Service,
  address: string,
  { config = {}, metrics, methods = OWN_METHODS }: ConnectOptions = {},
): RpcClient<Service> {
  const certificates = Certificates.of(config);
  const credentials = channelCredentials(certificates, address, calledService(definition));
  // Two channels, each of which connects when it is first used, or before.
  const client = new Client(address, credentials, channelOptions([]));
  const retrying = new Client(address, credentials, { ...channelOptions(retriesOf(definition, methods)), ...PINGS });
  const stop = (): void => {
    client.close();
    retrying.close();
    certificates?.release();
  };
  const used = new Set<Client>();
  const calls: Record<string, unknown> = { stop, connected: () => Promise.all(Array.from(used, connected)) };
  for (const [name, method] of Object.entries(definition)) {
    const measure = measureCalls(metrics, method.path);
    const isRepeatable = !method.requestStream && methods[method.path]?.isIdempotent === true;
    const channel = isRepeatable ? retrying : client;
    used.add(channel);
    calls[name] = method.requestStream ? duplex(channel, method) : unary({ channel, isRepeatable }, method, measure);
  }
  return calls as RpcClient<Service>;
}

function channelOptions(methodConfig: readonly object[]): ChannelOptions {
  return {
    // grpc-js keeps tokens by address: a channel without throttling would end that of the other.
    "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }], retryThrottling: RETRY_THROTTLING, methodConfig }),
    // By default a name is looked up at most every 30 s. When every address that a young client knows goes away within that time, it
    // has none left: rolling all processes at once failed 726 of 4,501 requests, for 23 s.
    "grpc.dns_min_time_between_resolutions_ms": 1_000,
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1_000,
    "grpc.max_receive_message_length": MESSAGE_BYTES_MAX,
    "grpc-node.flow_control_window": RECEIVE_WINDOW_BYTES,
  };
}

function retriesOf(definition: ServiceDefinition, methods: Methods): readonly object[] {
  const idempotent = Object.values(definition).filter(({ path }) => methods[path]?.isIdempotent === true);
  if (idempotent.length === 0) return [];
  const names = idempotent.map(({ path }) => {
    const [, service, method] = path.split("/");
    return { service, method };
  });
  const retryPolicy = {
    maxAttempts: 4,
    initialBackoff: "0.05s",
    maxBackoff: "1s",
    backoffMultiplier: 3,
    retryableStatusCodes: ["UNAVAILABLE"],
  };
  return [{ name: names, retryPolicy }];
}

interface MadeBy {
  readonly channel: Client;
  /** The method may be called twice for one result. */
  readonly isRepeatable: boolean;
}

function unary({ channel, isRepeatable }: MadeBy, method: MethodDefinition<unknown, unknown>, measure: MeasureCall) {
  const { path, requestSerialize } = method;
  const server = serverOf(path);
  const deserialize = (bytes: Buffer): unknown[] => [method.responseDeserialize(bytes)];
  return (request: unknown, context: CallContext): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const measured = measure();
      const span = startCallSpan("client", path, context);
      const end: EndOfCall = (error, response) => {
        endMadeCall(span, error?.code ?? status.OK);
        if (error === null) {
          measured("ok");
          return resolve(response);
        }
        const isGone = isCancelledBy(context, error);
        const failure = isGone
          ? new AppError("unavailable", "The caller has gone", { cause: error, dependency: server, isReported: true })
          : fromServiceError(error, server);
        measured(isGone ? "request_timeout" : failure.kind);
        reject(failure);
      };
      const make = (onEnd: EndOfCall): ClientUnaryCall => {
        const metadata = metadataOf(context, span, server);
        const onEnded = letGo((...ended) => {
          release();
          onEnd(...ended);
        });
        const call = channel.makeUnaryRequest(path, requestSerialize, deserialize, request, metadata, optionsOf(context), onEnded);
        const release = cancelWith(context.signal, call);
        const { onTrailers } = context;
        if (onTrailers !== undefined) call.once("status", ({ metadata: trailers }: StatusObject) => onTrailers(trailers));
        return call;
      };
      if (isRepeatable) makeTwiceIfCutOff(make, end);
      else make(end);
    });
}

type EndOfCall = (error: ServiceError | null, response?: unknown) => void;

/**
 * Returns a callback that holds neither `onEnd` nor the response once it was called. Node and grpc-js keep a connection's calls in a Map and
 * a Set, and V8 links each of their tables to the one that replaces it: once one is in the old generation, all later ones get there, and all
 * calls with them. Copying their pages took a sixth of the gateway's CPU time.
 */
function letGo(onEnd: EndOfCall): (error: ServiceError | null, responses?: unknown[]) => void {
  const held = [onEnd];
  return (error, responses) => held.pop()?.(error, responses?.pop());
}

const { write } = StreamDecoder.prototype;
const BETWEEN_MESSAGES = 0;

/** Holds what it has read of a message no longer than until the message is whole: 11 KB of each call with a page, for the same reason. */
StreamDecoder.prototype.write = function writeAndLetGo(data) {
  const messages = write.call(this, data);
  if (this["readState"] === BETWEEN_MESSAGES) Object.assign(this, { readPartialMessage: [], readCompressFlag: this["readPartialSize"] });
  return messages;
};

/**
 * Makes a call, and makes it once more if its connection is lost in the middle of the response. grpc-js retries no call whose response has
 * begun, as a caller may have seen a part of it; here none has. A process that is frozen between headers and trailers failed so: a page
 * or more in each 20th freeze under load.
 */
function makeTwiceIfCutOff(make: (onEnd: EndOfCall) => ClientUnaryCall, end: EndOfCall): void {
  let hasBegun = false;
  const call = make((error, response) => {
    if (error?.code !== status.UNAVAILABLE || !hasBegun) return end(error, response);
    try {
      make(end);
    } catch {
      // The channel was closed meanwhile.
      end(error);
    }
  });
  call.once("metadata", () => (hasBegun = true));
}

/** `accounts` of `/accounts.v1.UsageService/RecordUsage`. */
const serverOf = (path: string): Dependency => path.slice(1, path.indexOf(".")) as Dependency;

/** Returns the name of the service that is called; undefined for those that every process serves, such as grpc.health.v1. */
function calledService(definition: ServiceDefinition): string | undefined {
  const name = serverOf(Object.values(definition)[0]?.path ?? "");
  return (CALLERS as readonly string[]).includes(name) ? name : undefined;
}

/** Whether the call was cancelled here, because no one waits for it any more. */
const isCancelledBy = ({ signal, parent }: CallContext, { code }: ServiceError): boolean =>
  code === status.CANCELLED && (signal?.aborted === true || parent?.cancelled === true);

function duplex(client: Client, method: MethodDefinition<unknown, unknown>) {
  return (context: CallContext): ClientDuplexStream<unknown, unknown> => {
    const { path, requestSerialize, responseDeserialize } = method;
    const span = startCallSpan("client", method.path, context);
    const metadata = metadataOf(context, span, serverOf(path));
    const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata, optionsOf(context));
    const release = cancelWith(context.signal, call);
    call.once("status", ({ code }) => {
      release();
      endMadeCall(span, code);
    });
    return call;
  };
}

/** Cancels the call when the signal aborts, or if it already has. Returns a function that removes the listener. */
function cancelWith(signal: AbortSignal | undefined, call: { cancel(): void }): () => void {
  const cancel = (): void => call.cancel();
  if (signal?.aborted === true) cancel();
  signal?.addEventListener("abort", cancel);
  return () => signal?.removeEventListener("abort", cancel);
}

function metadataOf(context: CallContext, span: TraceSpan | undefined, server: Dependency): Metadata {
  const metadata = new Metadata();
  const grant = context.grants?.[server];
  // grpc-js throws an error that quotes a value that is no printable ASCII, and logs show errors.
  if (grant !== undefined && !/^[ -~]*$/.test(grant)) throw new AppError("invalid_session", "You are signed out. Sign in again.");
  if (grant !== undefined) metadata.set(GRANT_METADATA, grant);
  metadata.set("x-request-id", context.requestId);
  metadata.set("traceparent", span?.traceparent ?? context.traceparent);
  return metadata;
}

/** With the parent, deadlines shrink along a chain of calls, and a cancellation reaches its end. */
function optionsOf(context: CallContext): CallOptions {
  if (context.parent === undefined) return { deadline: context.deadline };
  return { deadline: context.deadline, parent: context.parent, propagate_flags: propagate.DEADLINE | propagate.CANCELLATION };
}
