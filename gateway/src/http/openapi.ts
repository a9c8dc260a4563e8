import { ERROR_KINDS, type ErrorKind } from "@brand-records/errors";
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, RESOURCES, type ResourceName } from "@brand-records/resources";
import { stringify } from "yaml";
import { z } from "zod";
import { API_VERSION } from "./api-version.ts";
import { LIST_OPERATIONS } from "../operations/index.ts";
import { LIST_EXAMPLES } from "./openapi-examples.ts";
import { assistantPath } from "./openapi-assistants.ts";
import { API_DESCRIPTION, ERROR_CURES } from "./openapi-texts.ts";

/** The OpenAPI 3.1 description, as YAML, generated from the schemas, operations and errors in use. */
export function openApiDocument(publicUrl: string): string {
  const document = {
    openapi: "3.1.0",
    info: {
      title: "Brand Records API",
      version: API_VERSION,
      description: API_DESCRIPTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: publicUrl }],
    security: [{ apiKey: [] }],
    tags: [
      { name: "Records", description: "One brand's records, newest first." },
      { name: "Assistants", description: "The same records for AI assistants, over the Model Context Protocol." },
      { name: "Description", description: "This description. Needs no key." },
    ],
    paths: { ...listPaths(), "/api/mcp": assistantPath(ANSWER_HEADERS), "/openapi/service.yaml": descriptionPath },
    components: {
      securitySchemes,
      parameters,
      headers,
      responses: errorResponses(),
      schemas: { ...recordSchemas(), Error: errorSchema, ErrorObject: errorObjectSchema },
    },
  };
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 120, blockQuote: "literal" });
}

const securitySchemes = {
  apiKey: {
    type: "http",
    scheme: "bearer",
    description:
      "A brand's API key: `brk_live_` or `brk_test_` and 36 letters and digits. The key alone selects the brand. Keep it on servers.",
  },
};

const parameters = {
  limit: {
    name: "limit",
    in: "query",
    description: `Records of a page. A larger or malformed number is refused, not clamped.`,
    schema: { type: "integer", minimum: 1, maximum: PAGE_LIMIT_MAX, default: PAGE_LIMIT_DEFAULT },
  },
  cursor: {
    name: "cursor",
    in: "query",
    description: "`next_cursor` of the page before, unchanged. Opaque. Keep the other parameters as they were.",
    schema: { type: "string" },
  },
  since: {
    name: "since",
    in: "query",
    deprecated: true,
    description:
      "Only records created strictly later than this RFC 3339 time with an offset (write `+` as `%2B`). Superseded by `cursor`: used for paging it skips records that share the timestamp of a page's last record. Neither is an update feed.",
    schema: { type: "string", format: "date-time" },
  },
};

const headers = {
  RequestId: {
    description: "Identifies the request; the caller's X-Request-Id when it is sane. Quote it to us.",
    schema: { type: "string" },
  },
  RateLimitPolicy: {
    description: "The brand's limit (q) in a window of so many seconds (w).",
    schema: { type: "string" },
    example: '"brand";q=60;w=60',
  },
  RateLimit: {
    description:
      "Requests left (r), and the seconds until the oldest one counted leaves the window (t); when refused, until the next is accepted.",
    schema: { type: "string" },
    example: '"brand";r=59;t=60',
  },
  RetryAfter: { description: "Whole seconds to wait.", schema: { type: "integer", minimum: 1 } },
  WwwAuthenticate: { description: "The scheme to use.", schema: { type: "string" }, example: 'Bearer realm="Brand Records API"' },
};

const headerRef = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` });
const ANSWER_HEADERS = {
  "X-Request-Id": headerRef("RequestId"),
  "RateLimit-Policy": headerRef("RateLimitPolicy"),
  RateLimit: headerRef("RateLimit"),
};

const errorSchema = {
  type: "object",
  description: "The one form of every error.",
  required: ["error"],
  properties: {
    error: { $ref: "#/components/schemas/ErrorObject" },
  },
};

const errorObjectSchema = {
  type: "object",
  required: ["code", "message", "request_id"],
  properties: {
    code: { type: "string", enum: Object.keys(ERROR_CURES), description: "Stable; decide by it." },
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

function recordSchemas(): Record<string, unknown> {
  const schemas: Record<string, unknown> = {};
  for (const { name, title, description, schema } of Object.values(RESOURCES)) {
    schemas[title] = { ...recordSchema(schema), title, description };
    schemas[`${title}List`] = {
      type: "object",
      required: ["resource", "count", "data"],
      properties: {
        resource: { const: name },
        count: { type: "integer", minimum: 0, maximum: PAGE_LIMIT_MAX, description: "Records in this page." },
        data: { type: "array", items: { $ref: `#/components/schemas/${title}` } },
        next_cursor: { type: "string", description: "Present if and only if the page is full. Absent: this was the last page." },
      },
    };
  }
  return schemas;
}

/** Open to fields a later version adds: clients that refuse unknown fields would break. */
function recordSchema(schema: z.ZodObject): object {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    io: "output",
    override: ({ jsonSchema }) => {
      delete jsonSchema.additionalProperties;
      delete jsonSchema.default;
    },
  });
  return json;
}

function listPaths(): Record<string, unknown> {
  return Object.fromEntries(
    Object.values(LIST_OPERATIONS).map(({ resource, summary }) => [
      `/api/v1/${resource}`,
      {
        get: {
          operationId: `list${RESOURCES[resource].title}s`,
          tags: ["Records"],
          summary,
          description: `${RESOURCES[resource].description} HEAD answers the same headers.`,
          parameters: Object.keys(parameters).map((name) => ({ $ref: `#/components/parameters/${name}` })),
          responses: { "200": listResponse(resource), ...errorRefs(LIST_ERRORS) },
        },
      },
    ]),
  );
}

function listResponse(resource: ResourceName): object {
  return {
    description: "A page; an empty one is a valid answer.",
    headers: ANSWER_HEADERS,
    content: {
      "application/json": { schema: { $ref: `#/components/schemas/${RESOURCES[resource].title}List` }, example: LIST_EXAMPLES[resource] },
    },
  };
}

/** By status; several codes may share one. */
const LIST_ERRORS = [400, 401, 403, 404, 405, 408, 413, 414, 429, 431, 500, 503, 504];

/** Of what takes a body, which reading does not. */
const BODY_ERROR_KINDS = new Set<ErrorKind>(["invalid_json", "origin_not_allowed"]);
const LIST_ERROR_KINDS = (Object.keys(ERROR_CURES) as (keyof typeof ERROR_CURES)[]).filter((kind) => !BODY_ERROR_KINDS.has(kind));

const errorRefs = (statuses: readonly number[]) =>
  Object.fromEntries(statuses.map((status) => [String(status), { $ref: `#/components/responses/Error${status}` }]));

function errorResponses(): Record<string, unknown> {
  const responses: Record<string, unknown> = {};
  for (const status of LIST_ERRORS) {
    const kinds = LIST_ERROR_KINDS.filter((kind) => ERROR_KINDS[kind].http === status);
    responses[`Error${status}`] = {
      description: kinds.map((kind) => `\`${kind}\`: ${ERROR_CURES[kind]}`).join("\n\n"),
      headers: errorHeadersOf(status),
      content: {
        "application/json": {
          schema: { $ref: "#/components/schemas/Error" },
          examples: Object.fromEntries(kinds.map((kind) => [kind, exampleOf(kind)])),
        },
      },
    };
  }
  return responses;
}

/** Statuses answered only to a key that was accepted and counted. */
const AFTER_THE_KEY = new Set([404, 413, 429]);

function errorHeadersOf(status: number): object {
  return {
    "X-Request-Id": headerRef("RequestId"),
    ...(status === 401 && { "WWW-Authenticate": headerRef("WwwAuthenticate") }),
    ...(AFTER_THE_KEY.has(status) && { "RateLimit-Policy": headerRef("RateLimitPolicy"), RateLimit: headerRef("RateLimit") }),
    ...([429, 503].includes(status) && { "Retry-After": headerRef("RetryAfter") }),
  };
}

function exampleOf(kind: ErrorKind & keyof typeof ERROR_CURES): object {
  return { value: { error: { code: kind, message: ERROR_CURES[kind], request_id: "0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11" } } };
}

const descriptionPath = {
  get: {
    operationId: "getDescription",
    tags: ["Description"],
    summary: "This description, in OpenAPI 3.1.",
    security: [],
    responses: {
      "200": { description: "The description.", content: { "application/yaml": { schema: { type: "string" } } } },
      ...errorRefs([405]),
    },
  },
};
