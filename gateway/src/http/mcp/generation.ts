import type { IncomingHttpHeaders } from "node:http";
import type { Principal } from "../../auth/principal.ts";
import type { Services } from "../../services.ts";
import type { RequestContext } from "../request-context.ts";
import { invalidParams, RPC_CODES, RpcError, type RpcCode, type RpcParams, type RpcRequest } from "./json-rpc.ts";
import { LEGACY_VERSIONS, STATELESS_VERSION, SUPPORTED_VERSIONS } from "./server-info.ts";
import type { Toolbox } from "./toolbox.ts";

/** The sender of a message, and what serving it may use. */
export interface Caller {
  readonly services: Services;
  readonly principal: Principal;
  readonly context: RequestContext;
  readonly toolbox: Toolbox;
  /** The service as callers reach it. */
  readonly publicUrl: string;
}

/** Serves one method. @returns the result as JSON text @throws RpcError, AppError */
export type Method = (params: RpcParams, caller: Caller) => string | Promise<string>;

/** A group of protocol versions that share their opening and their rules for headers. */
export interface Generation {
  /** Name in logs and metrics. */
  readonly name: string;
  /** HTTP statuses of protocol errors, where they differ from that of the error's kind. */
  readonly statuses: Partial<Record<RpcCode, number>>;
  readonly methods: ReadonlyMap<string, Method>;
  /** Checks the version and the headers of a request. @throws RpcError */
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
    `This protocol version is not supported, or not in this way. Send ${STATELESS_VERSION} in _meta and in the header; ${LEGACY_VERSIONS.join(", ")} open with initialize and have no version in _meta.`,
    { data: { supported: SUPPORTED_VERSIONS, requested: requested.slice(0, 64) } },
  );

/** Returns the member `tools` of a list's result. It has every tool in one page, so no client ever received a cursor. @throws RpcError */
export function toolsMember({ cursor }: RpcParams, { toolbox, principal, publicUrl }: Caller): string {
  if (cursor != null && cursor !== "") throw invalidParams("There is no such page: tools/list returns every tool, without a cursor.");
  return `"tools":${toolbox.listingFor(principal.permissions, { publicUrl, now: Date.now() })}`;
}
