import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, RESOURCES, type ResourceName } from "@brand-records/resources";
import { stringify } from "yaml";
import { z } from "zod";
import { LIST_OPERATIONS } from "../operations/index.ts";
import { API_VERSION } from "./api-version.ts";
import { answerSchema, integer, type Schema } from "./openapi-answer-schema.ts";
import { assistantPath, rpcSchemas } from "./openapi-assistants.ts";
import { COMMON_KINDS, errorObjectSchema, errorResponses, errorSchema } from "./openapi-errors.ts";
import { LIST_EXAMPLES } from "./openapi-examples.ts";
import { ANSWER_HEADERS, headers } from "./openapi-headers.ts";
import { planInputSchema, planPath, planSchema } from "./openapi-plans.ts";
import { API_DESCRIPTION, EVENTS_DESCRIPTION } from "./openapi-texts.ts";
import { webhooks } from "./openapi-webhooks.ts";

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
      { name: "Campaign plans", description: "Prepared here, completed by people in the workspace." },
      { name: "Assistants", description: "The same records for AI assistants, over the Model Context Protocol." },
      { name: "Events", description: EVENTS_DESCRIPTION },
      { name: "Description", description: "This description. Needs no key." },
    ],
    paths: {
      ...listPaths(),
      "/api/v1/campaign-plans": planPath,
      "/api/mcp": assistantPath(),
      "/openapi/service.yaml": descriptionPath,
    },
    webhooks,
    components: {
      securitySchemes,
      parameters,
      headers,
      responses: LIST_RESPONSES,
      schemas: {
        ...recordSchemas(),
        CampaignPlanInput: planInputSchema(),
        CampaignPlan: planSchema(),
        Error: errorSchema,
        ErrorObject: errorObjectSchema,
        ...rpcSchemas,
      },
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
    schema: { ...integer({ minimum: 1, maximum: PAGE_LIMIT_MAX }), default: PAGE_LIMIT_DEFAULT },
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

function recordSchemas(): Record<string, unknown> {
  const schemas: Record<string, unknown> = {};
  for (const { name, title, description, schema } of Object.values(RESOURCES)) {
    schemas[title] = { ...answerSchema(z.toJSONSchema(schema, { io: "output" }) as Schema), title, description };
    schemas[`${title}List`] = {
      type: "object",
      required: ["resource", "count", "data"],
      properties: {
        resource: { type: "string", const: name },
        count: { ...integer({ minimum: 0, maximum: PAGE_LIMIT_MAX }), description: "Records in this page." },
        data: { type: "array", items: { $ref: `#/components/schemas/${title}` } },
        next_cursor: { type: "string", description: "Present if and only if the page is full. Absent: this was the last page." },
      },
    };
  }
  return schemas;
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
          responses: { "200": listResponse(resource), ...listErrorRefs },
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

/** The lists share their errors, so these stand once and are referred to. */
const LIST_RESPONSES = Object.fromEntries(
  Object.entries(errorResponses([...COMMON_KINDS, "invalid_cursor", "unknown_resource", "not_found"])).map(([status, response]) => [
    `Error${status}`,
    response,
  ]),
);
const listErrorRefs = Object.fromEntries(
  Object.keys(LIST_RESPONSES).map((name) => [name.replace("Error", ""), { $ref: `#/components/responses/${name}` }]),
);

const descriptionPath = {
  get: {
    operationId: "getDescription",
    tags: ["Description"],
    summary: "This description, in OpenAPI 3.1.",
    security: [],
    responses: {
      "200": {
        description: "The description.",
        headers: { ETag: { description: "Of these bytes; send it as `If-None-Match` next time.", schema: { type: "string" } } },
        content: { "application/yaml": { schema: { type: "string" } } },
      },
      "304": { description: "It is what `If-None-Match` names. No body." },
      "405": { $ref: "#/components/responses/Error405" },
    },
  },
};
