import { stringify } from "yaml";
import { API_VERSION } from "../../operations/index.ts";
import { assistantPath, rpcSchemas } from "./assistants.ts";
import { errorObjectSchema, errorSchema } from "./errors.ts";
import { headers } from "./headers.ts";
import { operationParameters, operationPaths, operationSchemas, sharedResponses } from "./operations.ts";
import { API_DESCRIPTION, EVENTS_DESCRIPTION } from "./texts.ts";
import { webhooks } from "./webhooks.ts";

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
      { name: "Campaign plans", description: "Prepared over this API, completed by people in the workspace." },
      { name: "Assistants", description: "The same records for AI assistants, over the Model Context Protocol." },
      { name: "Events", description: EVENTS_DESCRIPTION },
      { name: "Description", description: "This description. Needs no key." },
    ],
    paths: {
      ...operationPaths(),
      "/api/mcp": assistantPath(),
      "/openapi/service.yaml": descriptionPath,
    },
    webhooks,
    components: {
      securitySchemes,
      parameters: operationParameters(),
      headers,
      responses: sharedResponses,
      schemas: {
        ...operationSchemas(),
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

const descriptionPath = {
  get: {
    operationId: "getDescription",
    tags: ["Description"],
    summary: "This description, in OpenAPI 3.1.",
    security: [],
    responses: {
      "200": {
        description: "The description.",
        headers: { ETag: { description: "Identifies these bytes; send it as `If-None-Match` next time.", schema: { type: "string" } } },
        content: { "application/yaml": { schema: { type: "string" } } },
      },
      "304": { description: "The description is the one that `If-None-Match` names. No body." },
      "405": { $ref: "#/components/responses/Error405" },
    },
  },
};
