import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createMcpHandler, fromJsonSchema, McpServer, type McpServerFactory } from "@modelcontextprotocol/server";
import { KEEP_ALIVE_MS } from "../settings.ts";
import { openTool, productListing, type ToolArguments } from "./tool.ts";

/**
 * Variant `sdk`: the product's tool behind the official SDK's stateless server, in place of our endpoint and of
 * everything around it.
 */
const callTool = openTool(process.env["RECORDS_ADDRESS"] ?? "");
const { name, inputSchema, outputSchema, ...told } = await productListing();
// Compiled once; a program that compiles them for every server it makes takes milliseconds a request.
const config = { ...told, inputSchema: fromJsonSchema<ToolArguments>(inputSchema), outputSchema: fromJsonSchema(outputSchema) };

/** One per request, as the SDK wants it. */
const makeServer: McpServerFactory = ({ requestInfo }) => {
  const brandId = new URL(requestInfo?.url ?? "").searchParams.get("brand_id") ?? "";
  const mcp = new McpServer({ name: "brand-records", version: "1.0.0" });
  mcp.registerTool(name, config, (given) => callTool(brandId, given));
  return mcp;
};

const handler = createMcpHandler(makeServer);

/**
 * Between node:http and the SDK's web face, as its package for Node does it, but with the answer written whole and with its
 * length: cheaper than that package's stream in chunks.
 */
async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method = "", url = "" } = request;
  const body = Buffer.concat(chunks).toString();
  const answer = await handler.fetch(new Request(`http://${request.headers.host}${url}`, { method, headers, body }));
  const bytes = Buffer.from(await answer.arrayBuffer());
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), "content-length": bytes.length });
  response.end(bytes);
}

const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
  serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
});
server.listen(0, "127.0.0.1", () => process.send?.({ ready: { port: (server.address() as AddressInfo).port } }));
// By exit() rather than by the signal itself, so that a CPU profile is written.
for (const end of ["SIGTERM", "disconnect"]) process.on(end, () => process.exit());
