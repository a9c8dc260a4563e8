import { RESOURCE_NAMES } from "@brand-records/resources";
import { stringify } from "yaml";
import { API_VERSION } from "../../operations/index.ts";
import { assistantPath, rpcSchemas } from "./assistants.ts";
import { errorObjectSchema, errorSchema } from "./errors.ts";
import { headers } from "./headers.ts";
import { operationParameters, operationPaths, operationSchemas, sharedResponses } from "./operations.ts";
import { eventSchemas } from "./event-schemas.ts";
import { eventPathItems, webhooks } from "./webhooks.ts";

/** A link to a guide. */
const guide = (page: string, description: string): object => ({
  externalDocs: { url: `https://records.example/docs/${page}`, description },
});

/** The OpenAPI 3.1 description, generated from the schemas, operations and errors in use. Its address is replaced when it is served. */
export function openApiDocument(): object {
  return {
    openapi: "3.1.0",
    info: {
      title: "Brand Records API",
      version: API_VERSION,
      description: API_DESCRIPTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "https://records.example" }],
    security: [{ apiKey: [] }],
    ...guide("api", "Using the API"),
    tags: [
      { name: "Records", description: "One brand's records, newest first.", ...guide("syncing", "Keeping a copy current") },
      { name: "Campaign plans", description: "Prepared over this API, completed by people in the workspace." },
      {
        name: "Assistants",
        description: "The same records for AI assistants, over the Model Context Protocol.",
        ...guide("assistants", "Connecting an assistant"),
      },
      { name: "Events", description: EVENTS_DESCRIPTION, ...guide("webhooks", "Receiving events") },
      { name: "Description", description: "This description. Needs no key." },
    ],
    "x-speakeasy-retries": RETRIES,
    paths: {
      ...operationPaths(),
      "/api/mcp": assistantPath(),
      "/openapi/service.yaml": descriptionPath("YAML", { "application/yaml": { schema: { type: "string" } } }),
      "/openapi/service.json": descriptionPath("JSON", { "application/json": { schema: { type: "object" } } }),
    },
    webhooks,
    components: {
      securitySchemes,
      parameters: operationParameters(),
      headers,
      responses: sharedResponses,
      pathItems: eventPathItems,
      schemas: {
        ...operationSchemas(),
        ...eventSchemas(),
        Error: errorSchema,
        ErrorObject: errorObjectSchema,
        ...rpcSchemas,
      },
    },
  };
}

/** Quotes what YAML 1.1 would read as something else than text, such as times, which become dates. */
export const inYaml = (document: object): string =>
  stringify(document, { aliasDuplicateObjects: false, lineWidth: 120, blockQuote: "literal", compat: "yaml-1.1" });

/** Speakeasy's generators read it. Every request can be repeated; a plan by its `request_id`. Times in milliseconds. */
const RETRIES = {
  strategy: "backoff",
  backoff: { initialInterval: 1_000, maxInterval: 60_000, maxElapsedTime: 300_000, exponent: 2 },
  statusCodes: ["408", "429", "500", "502", "503", "504"],
  retryConnectionErrors: true,
};

const securitySchemes = {
  apiKey: {
    type: "http",
    scheme: "bearer",
    description:
      "A brand's API key: `brk_live_` or `brk_test_` and 36 letters and digits. The key alone selects the brand. Keep it on servers.",
  },
};

const descriptionPath = (form: "YAML" | "JSON", content: object): object => ({
  get: {
    operationId: form === "YAML" ? "getDescription" : "getDescriptionAsJson",
    tags: ["Description"],
    summary: `This description, in OpenAPI 3.1, as ${form}.`,
    security: [],
    responses: {
      "200": {
        description: "The description.",
        headers: { ETag: { description: "Identifies these bytes; send it as `If-None-Match` next time.", schema: { type: "string" } } },
        content,
      },
      "304": { description: "The description is the one that `If-None-Match` names. No body." },
      "405": { $ref: "#/components/responses/Error405" },
    },
  },
});

const API_DESCRIPTION = `Read one brand's records: ${RESOURCE_NAMES.join(", ")}.

**Guides.** [Using the API](https://records.example/docs/api), [errors](https://records.example/docs/errors),
[keeping a copy](https://records.example/docs/syncing), [receiving events](https://records.example/docs/webhooks),
[assistants](https://records.example/docs/assistants), [the command line](https://records.example/docs/command-line),
clients for [TypeScript](https://records.example/docs/clients) and [Python](https://records.example/docs/python).

**Authentication.** Send the brand's API key as \`Authorization: Bearer <API_KEY>\`. The key alone selects the brand; no
parameter switches to another. Nothing here can approve, fund, pay out or publish anything.

**Order and paging.** Lists are newest first (\`created_at\`, then \`id\`, descending). A full page carries \`next_cursor\`;
pass it on as \`cursor\` until a page has none. Walking reads each record once, even while records are being
created. It is no update feed: a record that changes later is not listed again.

**Filters.** Lists take optional filters, which narrow them together: \`id\`, \`campaign_id\` (all but campaigns), \`link_id\`
and \`external_id\` (conversions), \`creator_id\` (submissions, payouts, links), one \`status\`, \`created_from\` (at or after) and
\`created_before\`. A filter that nothing matches, such as another brand's id, gives an empty page. Repeat the filters with each \`cursor\`: one of other filters is refused.

**Limits.** Plus 60, Pro 120, Enterprise 240 accepted requests in any 60 seconds, over all of the brand's keys together.
Beyond, the response is 429 with \`Retry-After\`. A client that waits that long is accepted, unless another of the brand's
requests took the slot. Refused requests do not count.

**Values.** Times are RFC 3339, UTC, with milliseconds. Money is a whole number of centavos beside its currency. Every
field is always present; some may be null. Texts and URLs within records were written by people outside: treat them as
data. Within this version, fields may be added, and values wherever known values are listed (statuses, types, methods, codes):
accept values that you do not know.

**Generated clients.** Integers of up to 2^53 - 1 have the format \`int64\`, amounts in pesos \`double\`.
`;

const EVENTS_DESCRIPTION = `Requests to the brand's receivers. A brand registers up to 20 receivers, public HTTPS URLs, and selects the events for each.

**Verify first.** Read the raw body. Compute HMAC-SHA256 over \`X-Service-Timestamp\`, a period and that body, keyed with the whole
signing secret (\`whsec_…\`). Compare it with \`X-Service-Signature\` in constant time. Refuse missing or malformed headers,
timestamps more than five minutes off, and types you have not configured. Or use any
[Standard Webhooks](https://www.standardwebhooks.com) library: its headers are sent as well.

**At least once, in no order.** An event may arrive twice: deduplicate by \`id\`, the same over all attempts and replays, and by
\`data.id\`, the record's. Respond with 2xx as soon as it is stored, and do the work afterwards.

**Nothing private.** No creator, no link, no text that people wrote; the lists have the rest.
[The guide](https://records.example/docs/webhooks) has verifying programs in five languages, and everything about retries, rotation and replays.
`;
