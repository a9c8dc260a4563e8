import { exitWithParent } from "./serve-variant.ts";
import type { AddressInfo } from "node:net";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";
import { KEEP_ALIVE_MS } from "../settings.ts";
import { openTool, productListing, type ToolArguments } from "./tool.ts";

/**
 * Variant `sdk_1`: like `sdk`, but with version 1 of the SDK, which most servers still run. It is set up like that version's
 * example of a stateless server.
 */
const callTool = openTool(process.env["RECORDS_ADDRESS"] ?? "");
const { name, inputSchema, outputSchema, ...description } = await productListing();
const config = { ...description, inputSchema: z.fromJSONSchema(inputSchema), outputSchema: z.fromJSONSchema(outputSchema) };

const app = createMcpExpressApp();
app.post("/api/mcp", (request, response, next) => {
  const mcp = new McpServer({ name: "brand-records", version: "1.0.0" });
  mcp.registerTool(name, config, (args) => callTool(request.query["brand_id"] as string, args as ToolArguments));
  // Has no sessions, because it has no sessionIdGenerator.
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  response.on("close", () => void Promise.all([transport.close(), mcp.close()]));
  mcp
    .connect(transport)
    .then(() => transport.handleRequest(request, response, request.body))
    .catch(next);
});

const server = app.listen(0, "127.0.0.1", () => process.send?.({ ready: { port: (server.address() as AddressInfo).port } }));
server.keepAliveTimeout = KEEP_ALIVE_MS;
exitWithParent();
