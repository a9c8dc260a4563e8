import { AppError, type ErrorKind } from "@brand-records/errors";
import { failureBody, RpcError, RPC_CODES } from "./mcp/json-rpc.ts";
import { ERROR_CURES } from "./openapi-texts.ts";

const REQUEST_ID = "0b6c2f5e-4a2b-4f0e-9a53-2f5a3d1c7e11";

/** The assistants' endpoint, as far as OpenAPI can say it: its messages, and the form of its errors. */
export function assistantPath(answerHeaders: object): object {
  return {
    post: {
      operationId: "postAssistantMessage",
      tags: ["Assistants"],
      summary: "A message of the Model Context Protocol.",
      description: `Six tools, one for each resource: the pages of the lists above, over JSON-RPC 2.0. Both generations of the protocol are spoken on this path: 2025-06-18 and 2025-11-25 (opening with \`initialize\`), and 2026-07-28 (\`server/discover\`; version and client capabilities in each message's \`_meta\`, and the headers below). One JSON object is answered; there are no streams, sessions or batches. Every message counts towards the brand's limit. What is wrong with a tool's arguments is a result with \`isError\`.`,
      parameters: HEADERS.map(([name, description]) => ({ name, in: "header", required: false, description, schema: { type: "string" } })),
      requestBody: { required: true, content: { "application/json": { schema: message, examples: REQUESTS } } },
      responses: {
        "200": {
          description: "A result; in 2025-06-18 and 2025-11-25 also an error of a method.",
          headers: answerHeaders,
          content: { "application/json": { schema: answer, example: { jsonrpc: "2.0", id: 1, result: {} } } },
        },
        "202": { description: "A notification or a response was taken note of. No body.", headers: answerHeaders },
        ...Object.fromEntries(REFUSALS.map(([status, error]) => [String(status), refusal(error)])),
      },
    },
  };
}

const HEADERS = [
  ["MCP-Protocol-Version", "Required in 2026-07-28, and then the same as in `_meta`."],
  ["Mcp-Method", "Required in 2026-07-28: the message's method."],
  ["Mcp-Name", "Required in 2026-07-28 for `tools/call`: the tool's name, or `=?base64?…?=` of it."],
] as const;

const message = {
  type: "object",
  required: ["jsonrpc", "method"],
  properties: {
    jsonrpc: { const: "2.0" },
    id: { type: ["string", "integer"], description: "Comes back with the answer. Without it the message is a notification." },
    method: { type: "string", description: "`initialize`, `ping`, `server/discover`, `tools/list` or `tools/call`." },
    params: { type: "object" },
  },
};

const answer = {
  type: "object",
  required: ["jsonrpc", "id"],
  properties: {
    jsonrpc: { const: "2.0" },
    id: { type: ["string", "integer", "null"] },
    result: { type: "object" },
    error: {
      type: "object",
      required: ["code", "message", "data"],
      properties: { code: { type: "integer" }, message: { type: "string" }, data: { $ref: "#/components/schemas/ErrorObject" } },
    },
  },
};

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

const ofKind = (kind: ErrorKind & keyof typeof ERROR_CURES): AppError => new AppError(kind, ERROR_CURES[kind]);

const REFUSALS: readonly [status: number, error: AppError][] = [
  [400, ofKind("invalid_json")],
  [401, ofKind("invalid_key")],
  [403, ofKind("origin_not_allowed")],
  [404, new RpcError(RPC_CODES.method_not_found, "not_found", "2026-07-28: there is no such method.")],
  [405, ofKind("method_not_allowed")],
  [408, ofKind("request_timeout")],
  [413, ofKind("payload_too_large")],
  [415, ofKind("unsupported_media_type")],
  [429, ofKind("rate_limited")],
  [500, ofKind("internal_error")],
  [503, ofKind("unavailable")],
  [504, ofKind("timeout")],
];

function refusal(error: AppError): object {
  return {
    description: error.message,
    content: { "application/json": { schema: answer, example: JSON.parse(failureBody(null, error, REQUEST_ID)) as object } },
  };
}
