import type { IncomingHttpHeaders } from "node:http";
import type { Caller } from "./caller.ts";
import { RPC_CODES, RpcError, type RpcCode, type RpcParams, type RpcRequest } from "./json-rpc.ts";
import { LEGACY_VERSIONS, STATELESS_VERSION, SUPPORTED_VERSIONS } from "./server-info.ts";

/** Answers one method. @returns the result as JSON text @throws RpcError, AppError */
export type Method = (params: RpcParams, caller: Caller) => string | Promise<string>;

/** One way in which the protocol has been spoken. */
export interface Generation {
  /** In logs and metrics. */
  readonly name: string;
  /** HTTP statuses of errors of the protocol, where they are not those of the error's kind. */
  readonly statuses: Partial<Record<RpcCode, number>>;
  readonly methods: ReadonlyMap<string, Method>;
  /** Looks at what a request says of itself. @throws RpcError */
  check(request: RpcRequest, headers: IncomingHttpHeaders): void;
}

/** @throws RpcError if the generation has no such method */
export function methodOf({ methods }: Generation, name: string): Method {
  const method = methods.get(name);
  if (method !== undefined) return method;
  const known = [...methods.keys()].join(", ");
  throw new RpcError(RPC_CODES.method_not_found, "not_found", `There is no such method here. The methods are ${known}.`);
}

/** @param requested as the client sent it; repeated no longer than a version can be */
export const unsupportedVersion = (requested: string): RpcError =>
  new RpcError(
    RPC_CODES.unsupported_version,
    "invalid_request",
    `This protocol version is not supported, or not in this way. ${STATELESS_VERSION} is told in _meta and in the header; ${LEGACY_VERSIONS.join(", ")} open with initialize and have no version in _meta.`,
    { data: { supported: SUPPORTED_VERSIONS, requested: requested.slice(0, 64) } },
  );
