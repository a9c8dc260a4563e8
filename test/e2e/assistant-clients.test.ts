import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as Client202503 } from "mcp-sdk-2025-03/client/index.js";
import { StreamableHTTPClientTransport as Transport202503 } from "mcp-sdk-2025-03/client/streamableHttp.js";
import {
  describeAssistants,
  endpointOf,
  IDENTITY,
  LEGACY,
  optionsWith,
  STATELESS,
  type Assistant,
  type ClientKind,
  type Server,
  type ToolResult,
} from "../describe-assistants.ts";

/** One promise: the protocol's official SDKs work here as they come. The Inspector: inspector.full.test.ts. */

async function connectSdk1(server: Server, options = {}): Promise<Assistant> {
  const client = new Client1(IDENTITY);
  await client.connect(new Transport1(endpointOf(server), { ...optionsWith(server), ...options }));
  return {
    listTools: async () => (await client.listTools()).tools,
    callTool: async (name, args) => (await client.callTool({ name, arguments: args })) as unknown as ToolResult,
    close: () => client.close(),
  };
}

/** The last release that knows nothing newer than 2025-03-26, which has no version header. */
async function connectSdk202503(server: Server, options = {}): Promise<Assistant> {
  const client = new Client202503(IDENTITY);
  const transport = new Transport202503(endpointOf(server), { ...optionsWith(server), ...options });
  // Its types are older than exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return {
    listTools: async () => (await client.listTools()).tools,
    callTool: async (name, args) => (await client.callTool({ name, arguments: args })) as unknown as ToolResult,
    close: () => client.close(),
  };
}

const connectClient2 =
  (mode?: VersionNegotiationMode) =>
  async (server: Server, options = {}): Promise<Assistant> => {
    const client = new Client(IDENTITY, mode === undefined ? {} : { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(endpointOf(server), { ...optionsWith(server), ...options }));
    return {
      listTools: async () => (await client.listTools()).tools,
      callTool: async (name, args) => (await client.callTool({ name, arguments: args })) as unknown as ToolResult,
      close: () => client.close(),
    };
  };

const CLIENTS: readonly ClientKind[] = [
  { client: "SDK 1.12", opening: "initialize", version: "2025-03-26", header: undefined, connect: connectSdk202503 },
  { client: "SDK 1.x", ...LEGACY, connect: connectSdk1 },
  { client: "client 2.x as it comes", ...LEGACY, connect: connectClient2() },
  { client: "client 2.x that negotiates", ...STATELESS, connect: connectClient2("auto") },
  { client: "client 2.x pinned to 2026-07-28", ...STATELESS, connect: connectClient2({ pin: "2026-07-28" }) },
];

describeAssistants(CLIENTS, (system) => {
  describe.each([
    ["SDK 1.x", connectSdk1],
    ["client 2.x as it comes", connectClient2()],
    ["client 2.x that negotiates", connectClient2("auto")],
  ])("%s, set up for OAuth", (_, connect) => {
    it("is told that there is none and which key to send, and sends nobody to a browser", async () => {
      const redirectToAuthorization = jest.fn();
      const authProvider = {
        redirectUrl: "http://127.0.0.1/callback",
        clientMetadata: { redirect_uris: ["http://127.0.0.1/callback"] },
        clientInformation: () => undefined,
        saveClientInformation: () => {},
        tokens: () => undefined,
        saveTokens: () => {},
        redirectToAuthorization,
        saveCodeVerifier: () => {},
        codeVerifier: () => "",
      };
      await expect(connect({ url: system().stack.url, key: "none" }, { authProvider })).rejects.toThrow(
        /This server has no OAuth\. It takes a brand API key, sent as Authorization: Bearer/,
      );
      expect(redirectToAuthorization).not.toHaveBeenCalled();
    });
  });
});
