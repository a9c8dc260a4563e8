/**
 * Every way a request can fail. The kind is the `code` that callers see: it is part of the contract and never renamed. `grpc` is the
 * name of the gRPC status code, `http` the HTTP status.
 */
export const ERROR_KINDS = {
  invalid_parameter: { grpc: "INVALID_ARGUMENT", http: 400 },
  invalid_cursor: { grpc: "INVALID_ARGUMENT", http: 400 },
  invalid_json: { grpc: "INVALID_ARGUMENT", http: 400 },
  invalid_request: { grpc: "INVALID_ARGUMENT", http: 400 },
  not_https: { grpc: "INVALID_ARGUMENT", http: 400 },
  private_address: { grpc: "INVALID_ARGUMENT", http: 400 },
  chat_webhook: { grpc: "INVALID_ARGUMENT", http: 400 },
  missing_key: { grpc: "UNAUTHENTICATED", http: 401 },
  invalid_key: { grpc: "UNAUTHENTICATED", http: 401 },
  invalid_id_token: { grpc: "UNAUTHENTICATED", http: 401 },
  invalid_session: { grpc: "UNAUTHENTICATED", http: 401 },
  permission_required: { grpc: "PERMISSION_DENIED", http: 403 },
  plan_required: { grpc: "PERMISSION_DENIED", http: 403 },
  brand_not_verified: { grpc: "PERMISSION_DENIED", http: 403 },
  origin_not_allowed: { grpc: "PERMISSION_DENIED", http: 403 },
  owner_required: { grpc: "PERMISSION_DENIED", http: 403 },
  limited_session: { grpc: "PERMISSION_DENIED", http: 403 },
  no_membership: { grpc: "PERMISSION_DENIED", http: 403 },
  email_not_verified: { grpc: "PERMISSION_DENIED", http: 403 },
  identity_conflict: { grpc: "PERMISSION_DENIED", http: 403 },
  unknown_resource: { grpc: "NOT_FOUND", http: 404 },
  not_found: { grpc: "NOT_FOUND", http: 404 },
  sign_in_link_unknown: { grpc: "NOT_FOUND", http: 404 },
  method_not_allowed: { grpc: "UNIMPLEMENTED", http: 405 },
  request_timeout: { grpc: "CANCELLED", http: 408 },
  already_exists: { grpc: "ALREADY_EXISTS", http: 409 },
  request_conflict: { grpc: "ALREADY_EXISTS", http: 409 },
  pending_plan_limit: { grpc: "FAILED_PRECONDITION", http: 409 },
  plan_not_pending: { grpc: "FAILED_PRECONDITION", http: 409 },
  other_person: { grpc: "FAILED_PRECONDITION", http: 409 },
  plan_changed: { grpc: "ABORTED", http: 409 },
  duplicate_url: { grpc: "ALREADY_EXISTS", http: 409 },
  receiver_limit: { grpc: "FAILED_PRECONDITION", http: 409 },
  key_limit: { grpc: "FAILED_PRECONDITION", http: 409 },
  member_limit: { grpc: "FAILED_PRECONDITION", http: 409 },
  receiver_disabled: { grpc: "FAILED_PRECONDITION", http: 409 },
  no_next_secret: { grpc: "FAILED_PRECONDITION", http: 409 },
  next_secret_not_accepted: { grpc: "FAILED_PRECONDITION", http: 409 },
  last_owner: { grpc: "FAILED_PRECONDITION", http: 409 },
  still_a_member: { grpc: "FAILED_PRECONDITION", http: 409 },
  sign_in_link_used: { grpc: "FAILED_PRECONDITION", http: 410 },
  sign_in_link_expired: { grpc: "FAILED_PRECONDITION", http: 410 },
  payload_too_large: { grpc: "RESOURCE_EXHAUSTED", http: 413 },
  uri_too_long: { grpc: "INVALID_ARGUMENT", http: 414 },
  unsupported_media_type: { grpc: "INVALID_ARGUMENT", http: 415 },
  rate_limited: { grpc: "RESOURCE_EXHAUSTED", http: 429 },
  headers_too_large: { grpc: "INVALID_ARGUMENT", http: 431 },
  internal_error: { grpc: "INTERNAL", http: 500 },
  // Only records returns it: the gateway asks another cell, or answers `unavailable`, as a gateway of 1.0 does by the status. No client
  // repeats it.
  brand_moving: { grpc: "RESOURCE_EXHAUSTED", http: 503 },
  unavailable: { grpc: "UNAVAILABLE", http: 503 },
  timeout: { grpc: "DEADLINE_EXCEEDED", http: 504 },
} as const;

export type ErrorKind = keyof typeof ERROR_KINDS;

export function isErrorKind(text: string): text is ErrorKind {
  return Object.hasOwn(ERROR_KINDS, text);
}

/** Whether a failure is ours: HTTP status 500 and above. */
export const isServerError = (kind: ErrorKind): boolean => ERROR_KINDS[kind].http >= 500;
