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
import { CALLERS } from "@brand-records/proto/methods";
import { actsForPerson, grantIn } from "./actors.ts";
import type { Certificates } from "./certificates.ts";
import { peerOfCall, type Peer } from "./identity.ts";
import type { Methods } from "./methods.ts";
import { requestIdFrom } from "./call-context.ts";

type AnyCall = ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>;

/** Wraps the implementation of a service, so that only its callers reach it. */
export type Guard = (definition: ServiceDefinition, implementation: UntypedServiceImplementation) => UntypedServiceImplementation;

interface GuardOptions {
  /** Undefined without TLS, which is on loopback only. */
  readonly certificates: Certificates | undefined;
  readonly config: { readonly RPC_OPERATOR_WITHOUT_TLS?: string | undefined };
  readonly methods: Methods;
  readonly log: Logger;
  readonly metrics: Registry;
}

/** Why a call is refused: the caller's name for the metric, and a description for the log. */
interface Refusal {
  readonly peer: string;
  readonly details: string;
}

/**
 * Refuses every call but those of a method's callers and of the operator, by the SPIFFE ids of both sides' certificates. A method that acts
 * for a person needs a grant, except from the operator: a console that was taken over can act for those alone whose sessions it has.
 *
 * Without TLS callers cannot be identified: each is treated like the console, unless a setting treats them as the operator.
 */
export function guardCalls({ certificates, config, methods, log, metrics }: GuardOptions): Guard {
  const refusals = new Counter({
    name: "rpc_refused_calls_total",
    help: "gRPC calls refused because their caller may not call the method, or not without a grant, by the service of its certificate; other for any certificate not of this installation.",
    labelNames: ["method", "peer"],
    registers: [metrics],
  });
  const anyone: Peer = config.RPC_OPERATOR_WITHOUT_TLS === "true" ? { caller: "operator" } : { stranger: "a caller without TLS" };
  const peerOf = (call: AnyCall): Peer => (certificates === undefined ? anyone : peerOfCall(call, certificates.own));
  const refusalOf = (path: string, call: AnyCall): Refusal | undefined => {
    const peer = peerOf(call);
    const caller = "caller" in peer ? peer.caller : undefined;
    if (caller === "operator") return undefined;
    const { callers = [], ...facts } = methods[path] ?? { actor: "caller" };
    const name = "caller" in peer ? peer.caller : peer.stranger;
    const mayCall = certificates === undefined ? callers.length > 0 : callers.some((each) => each === caller);
    if (!mayCall) return { peer: name, details: `this ${certificates === undefined ? "caller" : "certificate"} may not call ${path}` };
    const isConsole = caller === "console" || caller === undefined;
    if (!isConsole || !actsForPerson(facts) || grantIn(call.metadata) !== undefined) return undefined;
    return { peer: name, details: `${path} needs a grant of the person it acts for` };
  };
  const refuse = (path: string, call: AnyCall, { peer, details }: Refusal) => {
    refusals.inc({ method: path, peer: CALLERS.find((each) => each === peer) ?? "other" });
    log.warn({ method: path, peer, reason: details, request_id: requestIdFrom(call.metadata.get("x-request-id")[0]) }, "call refused");
    return { code: status.PERMISSION_DENIED, details };
  };
  return (definition, implementation) =>
    Object.fromEntries(
      Object.entries(definition).map(([name, { path, responseStream, originalName = name }]) => {
        // Definitions that are loaded from a .proto file, such as that of grpc.health.v1, have methods under two names.
        const handler = (implementation[name] ?? implementation[originalName]) as UntypedHandleCall as (
          call: AnyCall,
          callback?: sendUnaryData<unknown>,
        ) => void;
        const guarded = (call: AnyCall, callback?: sendUnaryData<unknown>): void => {
          const refusal = refusalOf(path, call);
          if (refusal === undefined) return handler(call, callback);
          const error = refuse(path, call, refusal);
          if (responseStream) call.emit("error", error);
          else callback?.(error);
        };
        return [name, guarded as UntypedHandleCall];
      }),
    );
}
