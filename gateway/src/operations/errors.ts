import type { ErrorKind } from "@brand-records/errors";

/** Advice to callers for each code that the API returns, for the OpenAPI description. */
export const ERROR_ADVICE = {
  invalid_parameter: "A query parameter is unknown, repeated or malformed; `field` names it. Fix it.",
  invalid_cursor: "The cursor was cut or changed, or belongs to another resource, `since` or other filters. Start again without one.",
  invalid_json: "The body is not JSON in UTF-8.",
  invalid_request: "The request could not be read, or its body has wrong fields: `details` names each. Fix them.",
  permission_required: "The key lacks the permission that the operation needs. Use one whose owner chose it at creation.",
  request_conflict:
    "The request_id made a plan from another input, which people edit in the workspace, or its plan was cancelled. Repeat with the same input; only a second plan takes a new request_id.",
  pending_plan_limit: "The brand has 200 pending plans. People must complete or cancel some first.",
  missing_key: "Send the key as `Authorization: Bearer <API_KEY>`.",
  invalid_key: "The key is malformed, unknown, of the other environment or revoked. Replace it in the Developers area.",
  plan_required: "The brand is below Plus. Its keys work again once it is on Plus or above.",
  origin_not_allowed: "Web pages of this origin may not call this endpoint. Call from a server.",
  brand_not_verified: "The brand is not verified. Its keys work again once it is.",
  unknown_resource: "The path does not name a resource.",
  not_found: "Nothing exists at this path. Check it for case and a trailing slash.",
  method_not_allowed: "The path supports other methods; `Allow` lists them.",
  request_timeout: "The request arrived too slowly. Send it in one go.",
  payload_too_large: "The body is larger than 768 KiB (64 KiB if the operation takes none). Every valid plan fits, however it is escaped.",
  unsupported_media_type: "Send JSON, with `Content-Type: application/json` and no `Content-Encoding`.",
  uri_too_long: "The URL is longer than 8 KiB. Check the cursor.",
  rate_limited: "The brand's limit is used up. Wait for `Retry-After`.",
  headers_too_large: "The headers are larger than 32 KiB. Send fewer.",
  internal_error: "The service failed. Try again; if it persists, send us the request id.",
  unavailable:
    "A part of the service cannot be reached, or too many large bodies are being sent at the same time. Try again after `Retry-After`.",
  timeout: "The request took too long. Try again, with a smaller page, or with the same `request_id`: the plan may have been made.",
} as const satisfies Partial<Record<ErrorKind, string>>;

/** A code that the OpenAPI description explains. */
export type DescribedError = keyof typeof ERROR_ADVICE;

/** Any request to an operation may fail with these. */
export const COMMON_ERRORS: readonly DescribedError[] = [
  "invalid_parameter",
  "invalid_request",
  "missing_key",
  "invalid_key",
  "plan_required",
  "brand_not_verified",
  "method_not_allowed",
  "request_timeout",
  "payload_too_large",
  "uri_too_long",
  "rate_limited",
  "headers_too_large",
  "internal_error",
  "unavailable",
  "timeout",
];
