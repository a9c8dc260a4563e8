import { AppError, ERROR_KINDS } from "@brand-records/errors";
import { ERROR_ADVICE, type DescribedError } from "../../operations/errors.ts";
import { errorBody } from "@brand-records/edge";
import { errorDocsOf } from "../errors.ts";
import { headerRef, RESPONSE_HEADERS } from "./headers.ts";
import { openText } from "./response-schema.ts";

/** The request id and the page about errors of every example. */
export const EXAMPLE_ABOUT = ["0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11", errorDocsOf("https://records.example")] as const;

export const errorSchema = {
  type: "object",
  description: "Every error has this form.",
  required: ["error"],
  properties: {
    error: { $ref: "#/components/schemas/ErrorObject" },
  },
};

export const errorObjectSchema = {
  type: "object",
  required: ["code", "message", "request_id"],
  properties: {
    code: openText(Object.keys(ERROR_ADVICE), "Stable. Decide by it, and by the status if you do not know the code."),
    docs_url: { type: "string", description: "Explains the code." },
    message: { type: "string", description: "What is wrong and what to do, for people. May change." },
    field: { type: "string", description: "The parameter or field that is wrong; the first if there are several." },
    details: {
      type: "array",
      description: "Every problem, if there are several.",
      items: {
        type: "object",
        required: ["field", "message"],
        properties: { field: { type: "string" }, message: { type: "string" } },
      },
    },
    request_id: { type: "string" },
  },
};

/** Error responses by status; several codes may share one. */
export function errorResponses(kinds: readonly DescribedError[]): Record<string, object> {
  const statuses = [...new Set(kinds.map((kind) => ERROR_KINDS[kind].http))].toSorted((a, b) => a - b);
  return Object.fromEntries(statuses.map((status) => [String(status), errorResponse(status, kinds)]));
}

function errorResponse(status: number, kinds: readonly DescribedError[]): object {
  const kindsOfStatus = kinds.filter((kind) => ERROR_KINDS[kind].http === status);
  return {
    description: kindsOfStatus.map((kind) => `\`${kind}\`: ${ERROR_ADVICE[kind]}`).join("\n\n"),
    headers: errorHeadersOf(status),
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/Error" },
        examples: Object.fromEntries(kindsOfStatus.map((kind) => [kind, { value: exampleOf(kind) }])),
      },
    },
  };
}

/** Statuses of responses to a key that was accepted and counted. */
const COUNTED_STATUSES = new Set([404, 409, 413, 415, 429]);
/** Those of responses to a key that was accepted: a brand that may not use its keys is refused before it is counted. */
const AUTHENTICATED_STATUSES = new Set([403, ...COUNTED_STATUSES]);

/** What responses of a status have beside their bodies. */
export function errorHeadersOf(status: number): object {
  const { "X-Request-Id": requestId, "X-Brand-Id": brandId, ...limits } = RESPONSE_HEADERS;
  return {
    "X-Request-Id": requestId,
    ...(status === 401 && { "WWW-Authenticate": headerRef("WwwAuthenticate") }),
    ...(AUTHENTICATED_STATUSES.has(status) && { "X-Brand-Id": brandId }),
    ...(COUNTED_STATUSES.has(status) && limits),
    ...(status === 405 && { Allow: headerRef("Allow") }),
    ...([429, 503].includes(status) && { "Retry-After": headerRef("RetryAfter") }),
  };
}

/** An error as examples show it. */
export const describedError = (kind: DescribedError): AppError => new AppError(kind, ERROR_ADVICE[kind]);

const exampleOf = (kind: DescribedError): unknown => JSON.parse(errorBody(describedError(kind), ...EXAMPLE_ABOUT));
