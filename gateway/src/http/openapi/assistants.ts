import { ERROR_KINDS, type AppError } from "@brand-records/errors";
import { failureBody, RpcError, RPC_CODES } from "../mcp/json-rpc.ts";
import { integer } from "../../operations/json-schema.ts";
import { describedError, errorHeadersOf, errorObjectSchema, EXAMPLE_ABOUT } from "./errors.ts";
import { RESPONSE_HEADERS } from "./headers.ts";

/** The assistants' endpoint, as far as OpenAPI can describe it: its messages and the form of its errors. */
export function assistantPath(): object {
  return {
    post: {
      operationId: "postAssistantMessage",
      tags: ["Assistants"],
      summary: "A message of the Model Context Protocol.",
      description: `A tool for each of the lists above, and one that prepares campaign plans for keys with that permission, over JSON-RPC 2.0. This path supports both generations of the protocol: 2025-03-26, 2025-06-18 and 2025-11-25 (opening with \`initialize\`), and 2026-07-28 (\`server/discover\`; version and client capabilities in each message's \`_meta\`, and the headers below). Each response is one JSON object; streams, sessions and batches are not supported. Every message counts towards the brand's limit. An error in a tool's arguments is a result with \`isError\`.`,
      parameters: HEADERS.map(([name, description]) => ({ name, in: "header", required: false, description, schema: { type: "string" } })),
      requestBody: { required: true, content: { "application/json": { schema: rpcRef("RpcMessage"), examples: REQUESTS } } },
      responses: {
        "200": {
          description: "A result; in the versions that open with `initialize` also an error of a method.",
          headers: RESPONSE_HEADERS,
          content: { "application/json": { schema: rpcRef("RpcAnswer"), example: { jsonrpc: "2.0", id: 1, result: {} } } },
        },
        "202": { description: "A notification or a response was accepted. No body.", headers: RESPONSE_HEADERS },
        ...Object.fromEntries(REFUSALS.map((error) => [String(ERROR_KINDS[error.kind].http), refusal(error)])),
      },
    },
  };
}

const HEADERS = [
  ["MCP-Protocol-Version", "Required in 2026-07-28: the same version as in `_meta`."],
  ["Mcp-Method", "Required in 2026-07-28: the message's method."],
  ["Mcp-Name", "Required in 2026-07-28 for `tools/call`: the tool's name, plain or as `=?base64?…?=`."],
] as const;

const jsonrpc = { type: "string", const: "2.0" };
/** Generators fail on a list of types other than one type and null. */
const id = [{ type: "string" }, integer()];

/** Components, because generators make a type for every inline schema. */
export const rpcSchemas = {
  RpcMessage: {
    type: "object",
    description: "A message of JSON-RPC 2.0.",
    required: ["jsonrpc", "method"],
    properties: {
      jsonrpc,
      id: { anyOf: id, description: "Repeated in the response. A message without it is a notification." },
      method: { type: "string", description: "`initialize`, `ping`, `server/discover`, `tools/list` or `tools/call`." },
      params: { type: "object" },
    },
  },
  RpcAnswer: {
    type: "object",
    description: "The response to a message: a result or an error.",
    required: ["jsonrpc", "id"],
    properties: {
      jsonrpc,
      id: { anyOf: [...id, { type: "null" }], description: "The message's id; null if it could not be read." },
      result: { type: "object" },
      error: { $ref: "#/components/schemas/RpcError" },
    },
  },
  RpcError: {
    type: "object",
    required: ["code", "message", "data"],
    properties: { code: integer(), message: { type: "string" }, data: { $ref: "#/components/schemas/RpcErrorData" } },
  },
  RpcErrorData: {
    ...errorObjectSchema,
    properties: { ...errorObjectSchema.properties, retry_after_seconds: { ...integer({ minimum: 1 }), description: "As `Retry-After`." } },
  },
};

const rpcRef = (name: keyof typeof rpcSchemas) => ({ $ref: `#/components/schemas/${name}` });

const call = { name: "list_campaigns", arguments: { limit: 2 } };

const REQUESTS = {
  initialize: {
    value: {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "report", version: "1.0.0" } },
    },
  },
  "tools/list": { value: { jsonrpc: "2.0", id: 2, method: "tools/list" } },
  "tools/call": { value: { jsonrpc: "2.0", id: 3, method: "tools/call", params: call } },
  "tools/call in 2026-07-28": {
    value: {
      jsonrpc: "2.0",
      id: 4,
      method: "tools/call",
      params: {
        ...call,
        _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} },
      },
    },
  },
};

const REFUSALS: readonly AppError[] = [
  describedError("invalid_json"),
  describedError("invalid_key"),
  describedError("origin_not_allowed"),
  new RpcError(RPC_CODES.method_not_found, "not_found", "2026-07-28: the method does not exist."),
  describedError("method_not_allowed"),
  describedError("request_timeout"),
  describedError("payload_too_large"),
  describedError("uri_too_long"),
  describedError("unsupported_media_type"),
  describedError("rate_limited"),
  describedError("headers_too_large"),
  describedError("internal_error"),
  describedError("unavailable"),
  describedError("timeout"),
];

function refusal(error: AppError): object {
  return {
    description: error.message,
    headers: errorHeadersOf(ERROR_KINDS[error.kind].http),
    content: {
      "application/json": { schema: rpcRef("RpcAnswer"), example: JSON.parse(failureBody(null, error, ...EXAMPLE_ABOUT)) as object },
    },
  };
}
