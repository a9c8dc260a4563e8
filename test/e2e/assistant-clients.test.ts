import { Client as Client202503 } from "mcp-sdk-2025-03/client/index.js";
import { StreamableHTTPClientTransport as Transport202503 } from "mcp-sdk-2025-03/client/streamableHttp.js";
import { assistantOf, connectClient2, connectSdk1 } from "../assistant-sdks.ts";
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
} from "../describe-assistants.ts";

/** One promise: the protocol's official SDKs work unchanged. The Inspector: inspector.release.test.ts; frameworks: frameworks.release.test.ts. */

/** The last release whose newest version is 2025-03-26, which has no version header. */
async function connectSdk202503(server: Server, options = {}): Promise<Assistant> {
  const client = new Client202503(IDENTITY);
  const transport = new Transport202503(endpointOf(server), { ...optionsWith(server), ...options });
  // The SDK's types predate exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return assistantOf(client);
}

const CLIENTS: readonly ClientKind[] = [
  { client: "SDK 1.12", opening: "initialize", version: "2025-03-26", header: undefined, connect: connectSdk202503 },
  { client: "SDK 1.x", ...LEGACY, connect: connectSdk1 },
  { client: "client 2.x by default", ...LEGACY, connect: connectClient2() },
  { client: "client 2.x that negotiates", ...STATELESS, connect: connectClient2("auto") },
  { client: "client 2.x pinned to 2026-07-28", ...STATELESS, connect: connectClient2({ pin: "2026-07-28" }) },
];

describeAssistants(CLIENTS, (system) => {
  describe.each([
    ["SDK 1.x", connectSdk1],
    ["client 2.x by default", connectClient2()],
    ["client 2.x that negotiates", connectClient2("auto")],
  ])("%s, set up for OAuth", (_, connect) => {
    it("learns that OAuth is not supported and which key to send, and opens no browser", async () => {
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
