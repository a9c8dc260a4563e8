import { Counter, type Logger, type Registry } from "@brand-records/telemetry";
import {
  status,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type UntypedHandleCall,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { Certificates } from "./certificates.ts";
import { CALLERS } from "@brand-records/proto/methods";
import { peerOfCall } from "./identity.ts";
import type { Methods } from "./methods.ts";
import { requestIdFrom } from "./request-id.ts";

type AnyCall = ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>;

/** Wraps the implementation of a service, so that only its callers reach it. */
export type Guard = (definition: ServiceDefinition, implementation: UntypedServiceImplementation) => UntypedServiceImplementation;

/**
 * Refuses every call but those of a method's callers and of the operator, by the SPIFFE ids of both sides' certificates. Refuses nothing
 * without TLS, which is on loopback only, and nothing while this process' own certificate has no id: then, as in 0.2.0, every
 * certificate of the authority is trusted.
 */
export function guardCalls(certificates: Certificates | undefined, methods: Methods, log: Logger, metrics: Registry): Guard {
  if (certificates === undefined) return (_, implementation) => implementation;
  const refusals = new Counter({
    name: "rpc_refused_calls_total",
    help: "gRPC calls refused because their caller may not call the method, by the service of its certificate; other for any certificate not of this installation.",
    labelNames: ["method", "peer"],
    registers: [metrics],
  });
  const isAllowed = (path: string, callers: ReadonlySet<string>, call: AnyCall): boolean => {
    const { own } = certificates;
    if (own === undefined) return true;
    const peer = peerOfCall(call, own);
    const caller = "caller" in peer ? peer.caller : undefined;
    if (caller !== undefined && callers.has(caller)) return true;
    refusals.inc({ method: path, peer: CALLERS.find((each) => each === caller) ?? "other" });
    const name = "caller" in peer ? peer.caller : peer.stranger;
    log.warn({ method: path, peer: name, request_id: requestIdFrom(call.metadata.get("x-request-id")[0]) }, "call refused");
    return false;
  };
  return (definition, implementation) =>
    Object.fromEntries(
      Object.entries(definition).map(([name, { path, responseStream, originalName = name }]) => {
        const allowed = new Set<string>([...(methods[path]?.callers ?? []), "operator"]);
        // Definitions that are loaded from a .proto file, such as that of grpc.health.v1, have methods under two names.
        const handler = (implementation[name] ?? implementation[originalName]) as UntypedHandleCall as (
          call: AnyCall,
          callback?: sendUnaryData<unknown>,
        ) => void;
        const guarded = (call: AnyCall, callback?: sendUnaryData<unknown>): void => {
          if (isAllowed(path, allowed, call)) return handler(call, callback);
          const refusal = { code: status.PERMISSION_DENIED, details: `this certificate may not call ${path}` };
          if (responseStream) call.emit("error", refusal);
          else callback?.(refusal);
        };
        return [name, guarded as UntypedHandleCall];
      }),
    );
}
