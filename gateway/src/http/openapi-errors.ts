import { AppError, ERROR_KINDS, type ErrorKind } from "@brand-records/errors";
import { errorBody } from "./errors.ts";
import { openText } from "./openapi-answer-schema.ts";
import { ANSWER_HEADERS, headerRef } from "./openapi-headers.ts";
import { ERROR_CURES } from "./openapi-texts.ts";

/** Codes that are described. */
export type DescribedKind = ErrorKind & keyof typeof ERROR_CURES;

/** Of every example. */
export const EXAMPLE_REQUEST_ID = "0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11";

export const errorSchema = {
  type: "object",
  description: "The one form of every error.",
  required: ["error"],
  properties: {
    error: { $ref: "#/components/schemas/ErrorObject" },
  },
};

export const errorObjectSchema = {
  type: "object",
  required: ["code", "message", "request_id"],
  properties: {
    code: openText(Object.keys(ERROR_CURES), "Stable; decide by it, and by the status for a code that you do not know."),
    message: { type: "string", description: "What was wrong and what to do, for people. May change." },
    field: { type: "string", description: "The parameter or field that is wrong; the first of several." },
    details: {
      type: "array",
      description: "Every problem, when there are several.",
      items: {
        type: "object",
        required: ["field", "message"],
        properties: { field: { type: "string" }, message: { type: "string" } },
      },
    },
    request_id: { type: "string" },
  },
};

/** Any request to an operation may end so. */
export const COMMON_KINDS: readonly DescribedKind[] = [
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

/** The responses of an operation that may end so, by status; several codes may share one. */
export function errorResponses(kinds: readonly DescribedKind[]): Record<string, object> {
  const statuses = [...new Set(kinds.map((kind) => ERROR_KINDS[kind].http))].toSorted((a, b) => a - b);
  return Object.fromEntries(statuses.map((status) => [String(status), errorResponse(status, kinds)]));
}

function errorResponse(status: number, kinds: readonly DescribedKind[]): object {
  const sharing = kinds.filter((kind) => ERROR_KINDS[kind].http === status);
  return {
    description: sharing.map((kind) => `\`${kind}\`: ${ERROR_CURES[kind]}`).join("\n\n"),
    headers: errorHeadersOf(status),
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/Error" },
        examples: Object.fromEntries(sharing.map((kind) => [kind, { value: exampleOf(kind) }])),
      },
    },
  };
}

/** Statuses answered only to a key that was accepted and counted. */
const AFTER_THE_KEY = new Set([404, 409, 413, 415, 429]);

function errorHeadersOf(status: number): object {
  const { "X-Request-Id": requestId, ...limits } = ANSWER_HEADERS;
  return {
    "X-Request-Id": requestId,
    ...(status === 401 && { "WWW-Authenticate": headerRef("WwwAuthenticate") }),
    ...(AFTER_THE_KEY.has(status) && limits),
    ...([429, 503].includes(status) && { "Retry-After": headerRef("RetryAfter") }),
  };
}

/** An error of that kind, as examples show it. */
export const describedError = (kind: DescribedKind): AppError => new AppError(kind, ERROR_CURES[kind]);

const exampleOf = (kind: DescribedKind): unknown => JSON.parse(errorBody(describedError(kind), EXAMPLE_REQUEST_ID));
