import {
  Client,
  Metadata,
  propagate,
  type CallOptions,
  type ClientDuplexStream,
  type MethodDefinition,
  type ServiceDefinition,
} from "@grpc/grpc-js";
import type { CallContext } from "./call-context.ts";
import { channelCredentials, MESSAGE_BYTES_MAX, type rpcTlsSettings } from "./settings.ts";
import { fromServiceError } from "./wire-errors.ts";

/** A typed client: unary methods return promises, bidirectional methods the grpc-js stream. */
export type RpcClient<Service> = {
  [Name in keyof Service]: Service[Name] extends MethodDefinition<infer Request, infer Response>
    ? Service[Name] extends { requestStream: true }
      ? (context: CallContext) => ClientDuplexStream<Request, Response>
      : (request: Request, context: CallContext) => Promise<Response>
    : never;
} & { stop(): void };

export interface ConnectOptions<Service> {
  readonly config?: { readonly [Name in keyof typeof rpcTlsSettings]?: string | undefined };
  /** Methods that are retried after UNAVAILABLE, because calling them twice has the effect of once. */
  readonly idempotent: readonly (keyof Service & string)[];
}

/**
 * Returns a client for `address`: `host:port`, `dns:///name:port` (all its addresses share the load), or
 * `ipv4:a:port,b:port`. It connects on demand and reconnects automatically.
 */
export function connectRpc<Service extends ServiceDefinition>(
  definition: Service,
  address: string,
  options: ConnectOptions<Service>,
): RpcClient<Service> {
  const client = new Client(address, channelCredentials(options.config ?? {}), {
    "grpc.service_config": JSON.stringify(serviceConfig(definition, options.idempotent)),
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1_000,
    "grpc.max_receive_message_length": MESSAGE_BYTES_MAX,
  });
  const calls: Record<string, unknown> = { stop: () => client.close() };
  for (const [name, method] of Object.entries(definition)) {
    calls[name] = method.requestStream ? duplex(client, method) : unary(client, method);
  }
  return calls as RpcClient<Service>;
}

function serviceConfig(definition: ServiceDefinition, idempotent: readonly string[]): object {
  const names = idempotent.map((name) => {
    const [, service, method] = definition[name]?.path.split("/") ?? [];
    return { service, method };
  });
  const retryPolicy = {
    maxAttempts: 4,
    initialBackoff: "0.05s",
    maxBackoff: "1s",
    backoffMultiplier: 3,
    retryableStatusCodes: ["UNAVAILABLE"],
  };
  return { loadBalancingConfig: [{ round_robin: {} }], methodConfig: names.length > 0 ? [{ name: names, retryPolicy }] : [] };
}

function unary(client: Client, method: MethodDefinition<unknown, unknown>) {
  return (request: unknown, context: CallContext): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const call = client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        metadataOf(context),
        optionsOf(context),
        (error, response) => {
          release();
          if (error === null) resolve(response);
          else reject(fromServiceError(error));
        },
      );
      const release = cancelWith(context.signal, call);
    });
}

function duplex(client: Client, method: MethodDefinition<unknown, unknown>) {
  return (context: CallContext): ClientDuplexStream<unknown, unknown> => {
    const { path, requestSerialize, responseDeserialize } = method;
    const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadataOf(context), optionsOf(context));
    call.once("status", cancelWith(context.signal, call));
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

function metadataOf(context: CallContext): Metadata {
  const metadata = new Metadata();
  metadata.set("x-request-id", context.requestId);
  metadata.set("traceparent", context.traceparent);
  return metadata;
}

/** With the parent, deadlines shrink along a chain of calls, and a cancellation reaches its end. */
function optionsOf(context: CallContext): CallOptions {
  if (context.parent === undefined) return { deadline: context.deadline };
  return { deadline: context.deadline, parent: context.parent, propagate_flags: propagate.DEADLINE | propagate.CANCELLATION };
}
