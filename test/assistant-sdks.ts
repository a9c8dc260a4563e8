import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { endpointOf, IDENTITY, optionsWith, type Assistant, type Server, type ToolResult } from "./describe-assistants.ts";

/** The calls that all SDKs share. */
interface SdkClient {
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  callTool(request: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

export const assistantOf = (client: SdkClient): Assistant => ({
  listTools: async () => (await client.listTools()).tools,
  callTool: async (name, args) => (await client.callTool({ name, arguments: args })) as ToolResult,
  close: () => client.close(),
});

export async function connectSdk1(server: Server, options = {}): Promise<Assistant> {
  const client = new Client1(IDENTITY);
  await client.connect(new Transport1(endpointOf(server), { ...optionsWith(server), ...options }));
  return assistantOf(client);
}

export const connectClient2 =
  (mode?: VersionNegotiationMode) =>
  async (server: Server, options = {}): Promise<Assistant> => {
    const client = new Client(IDENTITY, mode === undefined ? {} : { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(endpointOf(server), { ...optionsWith(server), ...options }));
    return assistantOf(client);
  };
