import type { IncomingHttpHeaders } from "node:http";
import type { Caller } from "./caller.ts";
import type { RpcCode, RpcRequest } from "./json-rpc.ts";
import { RPC_CODES, RpcError } from "./json-rpc.ts";
import { SUPPORTED_VERSIONS } from "./server-info.ts";

/** One way in which the protocol has been spoken. */
export interface Generation {
  /** In logs and metrics. */
  readonly name: string;
  /** HTTP statuses of errors of the protocol, where they are not those of the error's kind. */
  readonly statuses: Partial<Record<RpcCode, number>>;
  /**
   * @returns the result as JSON text
   * @throws RpcError, AppError
   */
  answer(request: RpcRequest, headers: IncomingHttpHeaders, caller: Caller): string | Promise<string>;
}

export const methodNotFound = (methods: readonly string[]): RpcError =>
  new RpcError(RPC_CODES.method_not_found, "not_found", `There is no such method here. The methods are ${methods.join(", ")}.`);

/** @param requested as the client sent it; repeated no longer than a version can be */
export const unsupportedVersion = (requested: string): RpcError =>
  new RpcError(
    RPC_CODES.unsupported_version,
    "invalid_request",
    `This protocol version is not supported. Supported are ${SUPPORTED_VERSIONS.join(", ")}.`,
    { data: { supported: SUPPORTED_VERSIONS, requested: requested.slice(0, 64) } },
  );
