import { AppError, ERROR_KINDS, type ErrorKind } from "@brand-records/errors";
import { errorObject } from "@brand-records/edge";

/** JSON-RPC 2.0 as the Model Context Protocol narrows it: ids are strings or integers, params are objects, no batches. */

export type RpcId = string | number;
export type RpcParams = Readonly<Record<string, unknown>>;

export interface RpcRequest {
  readonly kind: "request";
  readonly id: RpcId;
  readonly method: string;
  readonly params: RpcParams;
}

/** Accepted and ignored: its sender expects no response. */
export interface RpcOneWay {
  readonly kind: "notification" | "response";
}

export const RPC_CODES = {
  parse_error: -32700,
  invalid_request: -32600,
  method_not_found: -32601,
  invalid_params: -32602,
  failure: -32000,
  unauthenticated: -32001,
  rate_limited: -32003,
  /** Protocol version 2026-07-28: headers and body differ, or a required header is missing. */
  header_mismatch: -32020,
  /** Protocol version 2026-07-28: `data` holds `supported` and `requested`. */
  unsupported_version: -32022,
} as const;

export type RpcCode = (typeof RPC_CODES)[keyof typeof RPC_CODES];

/** An error of the protocol, as opposed to one of the operation. */
export class RpcError extends AppError {
  readonly code: RpcCode;
  /** Fields of the response's `data`, added to those of the error object. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The id of an invalid message, if the id itself is valid. */
  readonly id: RpcId | null;

  constructor(
    code: RpcCode,
    kind: ErrorKind,
    message: string,
    { data = {}, id = null }: { data?: RpcError["data"]; id?: RpcId | null } = {},
  ) {
    super(kind, message);
    this.code = code;
    this.data = data;
    this.id = id;
  }
}

export const invalidParams = (message: string): RpcError => new RpcError(RPC_CODES.invalid_params, "invalid_request", message);

const invalidEnvelope = (message: string, id?: unknown): RpcError =>
  new RpcError(RPC_CODES.invalid_request, "invalid_request", message, isId(id) ? { id } : {});

/** @throws RpcError `invalid_request` if it is not a message */
export function messageFrom(message: unknown): RpcRequest | RpcOneWay {
  if (Array.isArray(message)) throw invalidEnvelope("Batches are not supported. Send one message per request.");
  if (!isObject(message)) throw invalidEnvelope("The body must be one JSON-RPC 2.0 message: an object.");
  const { jsonrpc, id, method, params } = message;
  if (jsonrpc !== "2.0") throw invalidEnvelope('jsonrpc must be "2.0".', id);
  if (method === undefined) return requireResponse(message);
  if (typeof method !== "string") throw invalidEnvelope("method must be text.", id);
  // Some clients send null for none.
  if (params != null && !isObject(params)) throw invalidEnvelope("params must be an object.", id);
  if (!Object.hasOwn(message, "id")) return { kind: "notification" };
  if (!isId(id)) throw invalidEnvelope("id must be text or a whole number of at most 2^53 - 1.");
  return { kind: "request", id, method, params: params ?? {} };
}

function requireResponse(message: RpcParams): RpcOneWay {
  if (Object.hasOwn(message, "result") || Object.hasOwn(message, "error")) return { kind: "response" };
  throw invalidEnvelope("A message must have a method, a result or an error.", message["id"]);
}

/** JavaScript would round a larger number, and the client could not match the response to its request. */
function isId(id: unknown): id is RpcId {
  return typeof id === "string" || Number.isSafeInteger(id);
}

export function isObject(value: unknown): value is RpcParams {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param result JSON text */
export function successBody(id: RpcId, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

/** @param rpcId of the request; null if it could not be read */
export function failureBody(rpcId: RpcId | null, error: AppError, requestId: string, docs: string): string {
  const id = rpcId ?? (error instanceof RpcError ? error.id : null);
  const { retryAfterSeconds } = error;
  const data = {
    ...errorObject(error, requestId, docs),
    // Repeats Retry-After: few clients expose headers.
    ...(retryAfterSeconds !== undefined && { retry_after_seconds: retryAfterSeconds }),
    ...(error instanceof RpcError && error.data),
  };
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code: codeOf(error), message: error.message, data } });
}

export function codeOf(error: AppError): RpcCode {
  if (error instanceof RpcError) return error.code;
  if (ERROR_KINDS[error.kind].http === 401) return RPC_CODES.unauthenticated;
  return CODE_BY_KIND[error.kind] ?? RPC_CODES.failure;
}

const CODE_BY_KIND: Partial<Record<ErrorKind, RpcCode>> = {
  invalid_json: RPC_CODES.parse_error,
  invalid_request: RPC_CODES.invalid_request,
  rate_limited: RPC_CODES.rate_limited,
};
