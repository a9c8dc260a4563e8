import { serveVariant } from "./serve-variant.ts";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createMcpHandler, fromJsonSchema, McpServer, type McpServerFactory } from "@modelcontextprotocol/server";
import { KEEP_ALIVE_MS } from "../settings.ts";
import { openTool, productListing, type ToolArguments } from "./tool.ts";

/**
 * Variant `sdk`: the product's tool behind the official SDK's stateless server, in place of the product's gateway.
 */
const callTool = openTool(process.env["RECORDS_ADDRESS"] ?? "");
const { name, inputSchema, outputSchema, ...description } = await productListing();
// Compiled once: compiling the schemas for every server would cost milliseconds per request.
const config = { ...description, inputSchema: fromJsonSchema<ToolArguments>(inputSchema), outputSchema: fromJsonSchema(outputSchema) };

/** Makes one server per request, as the SDK requires. */
const makeServer: McpServerFactory = ({ requestInfo }) => {
  const brandId = new URL(requestInfo?.url ?? "").searchParams.get("brand_id") ?? "";
  const mcp = new McpServer({ name: "brand-records", version: "1.0.0" });
  mcp.registerTool(name, config, (args) => callTool(brandId, args));
  return mcp;
};

const handler = createMcpHandler(makeServer);

/**
 * Adapts node:http to the SDK's Fetch API. Unlike the SDK's own adapter it writes the whole response with its length, which
 * is cheaper than a stream of chunks.
 */
async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method = "", url = "" } = request;
  const body = Buffer.concat(chunks).toString();
  const result = await handler.fetch(new Request(`http://${request.headers.host}${url}`, { method, headers, body }));
  const bytes = Buffer.from(await result.arrayBuffer());
  response.writeHead(result.status, { ...Object.fromEntries(result.headers), "content-length": bytes.length });
  response.end(bytes);
}

const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
  serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
});
serveVariant(server);
