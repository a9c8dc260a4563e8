import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client as Client202503 } from "mcp-sdk-2025-03/client/index.js";
import { StreamableHTTPClientTransport as Transport202503 } from "mcp-sdk-2025-03/client/streamableHttp.js";
import { RESOURCE_NAMES } from "@brand-records/resources";
import { startForwardingProxy, type ForwardingProxy } from "../forwarding-proxy.ts";
import { fillBrand } from "../fill-brand.ts";
import { startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: the protocol's official clients work here as they come, told no more than the address and the key. */

const SIZES = { campaigns: 5, submissions: 11, payouts: 6, deposits: 7, conversions: 8, links: 6 };
const LIMIT_PRO = 20;

let stack: Stack;
let brand: TestBrand;
/** The Inspector keeps files at home. */
let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "inspector-"));
  stack = await startStack({ env: { RATE_LIMIT_PLUS: "10000", RATE_LIMIT_PRO: String(LIMIT_PRO) } });
  brand = await stack.createBrand();
  await fillBrand(stack, brand.id, SIZES);
});
afterAll(async () => {
  await stack.stop();
  await rm(home, { recursive: true, force: true });
});

interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: Page;
  readonly isError?: boolean;
}

interface Page {
  readonly resource: string;
  readonly count: number;
  readonly data: readonly { readonly id: string }[];
  readonly next_cursor?: string;
}

/** What the clients have in common. Each rejects if there is no result, and if a result does not fit the tool's schema. */
interface Assistant {
  listTools(): Promise<readonly { readonly name: string }[]>;
  callTool(name: string, args: Record<string, unknown>): Promise<ToolResult>;
  close(): Promise<void>;
}

interface Server {
  readonly url: string;
  readonly key: string;
}

const IDENTITY = { name: "test", version: "1.0.0" };

const optionsWith = ({ key }: Server) => ({ requestInit: { headers: { Authorization: `Bearer ${key}` } } });
const endpointOf = ({ url }: Server) => new URL("/api/mcp", url);

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

const INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
/** @see https://github.com/modelcontextprotocol/inspector/tree/main/clients/cli */
const EXIT_AUTH = 3;
const EXIT_TOOL_ERROR = 5;

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process for each request, which connects anew. */
function inspector(era: string, server: Server, ...parameters: string[]): Promise<Outcome> {
  const connection = ["--cli", "--transport", "http", "--server-url", endpointOf(server).href, "--protocol-era", era];
  const key = ["--header", `Authorization: Bearer ${server.key}`, "--stored-auth-only"];
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env["PATH"], HOME: home }, timeout: 25_000 };
    execFile(process.execPath, [INSPECTOR, ...connection, ...key, ...parameters], options, (error, stdout, stderr) =>
      // Not a number if it was killed for taking too long.
      resolve({ code: error === null ? 0 : Number(error.code ?? NaN), stdout, stderr }),
    );
  });
}

const connectInspector =
  (era: string) =>
  async (server: Server): Promise<Assistant> => {
    const run = async (expected: number[], ...parameters: string[]) => {
      const { code, stdout, stderr } = await inspector(era, server, ...parameters);
      if (!expected.includes(code)) throw new Error(`exit code ${code}: ${stderr}`);
      return JSON.parse(stdout);
    };
    return {
      listTools: async () => (await run([0], "--method", "tools/list")).tools,
      callTool: (name, args) =>
        run([0, EXIT_TOOL_ERROR], "--method", "tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args)),
      close: async () => {},
    };
  };

interface ClientKind {
  readonly client: string;
  readonly opening: "initialize" | "server/discover";
  readonly version: string;
  /** MCP-Protocol-Version on every message but the first. */
  readonly header: string | undefined;
  connect(server: Server): Promise<Assistant>;
  /** It tells its user that opening failed, and not what the server said. */
  readonly reticent?: true;
}

/** What a developer gets to see. */
const failureOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    (result) => {
      throw new Error(`it succeeded: ${inspect(result)}`);
    },
    (error: unknown) => inspect(error),
  );

const LEGACY = { opening: "initialize", version: "2025-11-25", header: "2025-11-25" } as const;
const STATELESS = { opening: "server/discover", version: "2026-07-28", header: "2026-07-28" } as const;

const CLIENTS: readonly ClientKind[] = [
  { client: "SDK 1.12", opening: "initialize", version: "2025-03-26", header: undefined, connect: connectSdk202503 },
  { client: "SDK 1.x", ...LEGACY, connect: connectSdk1 },
  { client: "client 2.x as it comes", ...LEGACY, connect: connectClient2() },
  { client: "client 2.x that negotiates", ...STATELESS, connect: connectClient2("auto") },
  { client: "client 2.x pinned to 2026-07-28", ...STATELESS, connect: connectClient2({ pin: "2026-07-28" }) },
  { client: "Inspector, legacy", ...LEGACY, connect: connectInspector("legacy") },
  { client: "Inspector, modern", ...STATELESS, connect: connectInspector("modern"), reticent: true },
];

describe.each(CLIENTS)("$client", ({ connect, opening, version, header, reticent = false }) => {
  let proxy: ForwardingProxy;
  let assistant: Assistant;
  let tools: Awaited<ReturnType<Assistant["listTools"]>>;

  beforeAll(async () => {
    proxy = await startForwardingProxy(stack.url);
    assistant = await connect({ url: proxy.url, key: brand.key });
    // SDK 1.x holds results against the schemas that it has listed.
    tools = await assistant.listTools();
  });
  afterAll(async () => {
    await assistant.close();
    await proxy.stop();
  });

  it("lists the six tools", () => {
    expect(tools.map(({ name }) => name)).toEqual(RESOURCE_NAMES.map((resource) => `list_${resource}`));
  });

  it("reads what HTTP answers, as structured content that fits the schema and as the same text", async () => {
    const read = async (resource: string) => {
      const { content, structuredContent, isError } = await assistant.callTool(`list_${resource}`, { limit: 5 });
      expect(isError).toBe(false);
      expect(structuredContent).toEqual(await (await stack.get(`/api/v1/${resource}?limit=5`, brand.key)).json());
      expect(content).toEqual([{ type: "text", text: expect.any(String) }]);
      expect(JSON.parse(content[0]?.text ?? "")).toEqual(structuredContent);
    };
    await Promise.all(RESOURCE_NAMES.map(read));
  });

  it("walks a list by next_cursor to an end, every record once", async () => {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const { structuredContent: page } = await assistant.callTool("list_submissions", {
        limit: 4,
        ...(cursor !== undefined && { cursor }),
      });
      ids.push(...(page?.data ?? []).map(({ id }) => id));
      cursor = page?.next_cursor;
    } while (cursor !== undefined);
    const all = (await (await stack.get("/api/v1/submissions?limit=200", brand.key)).json()) as Page;
    expect(ids).toHaveLength(SIZES.submissions);
    expect(ids).toEqual(all.data.map(({ id }) => id));
  });

  it("hands a refused argument to the model as a result that names it", async () => {
    const result = await assistant.callTool("list_links", { limit: 5, since: "yesterday" });
    expect(result).toMatchObject({ isError: true, content: [{ type: "text" }] });
    expect(result.structuredContent).toBeUndefined();
    expect(JSON.parse(result.content[0]?.text ?? "")).toMatchObject({ error: { code: "invalid_parameter", field: "since" } });
  });

  it("fails with a wrong key, at once and saying so", async () => {
    const shown = await failureOf(connect({ url: stack.url, key: "none" }).then((wrong) => wrong.listTools()));
    expect(shown).toMatch(new RegExp(`401|exit code ${EXIT_AUTH}`));
    if (!reticent) expect(shown).toMatch(/This API key is not valid here: check that it is complete/);
  });

  it("fails when the brand's limit is used up, saying how long to wait", async () => {
    const { key } = await stack.createBrand({ tier: "pro" });
    const limited = await connect({ url: stack.url, key });
    await Promise.all(Array.from({ length: LIMIT_PRO }, () => stack.get("/api/v1/links", key)));
    const shown = await failureOf(limited.callTool("list_links", {}));
    await limited.close();
    if (!reticent) expect(shown).toMatch(/limit of 20 requests in 60 seconds is used up. Wait \d+ s\./);
  });

  it(`has opened with ${opening}, kept to ${version}, and asked for nothing that was refused`, () => {
    const posts = proxy.exchanges.filter(({ method }) => method === "POST");
    expect(posts[0]).toMatchObject({ rpcMethod: opening });
    for (const { rpcMethod, protocolVersion, status } of posts) {
      expect(protocolVersion).toBe(rpcMethod === "initialize" ? undefined : header);
      expect(status).toBe(rpcMethod === "notifications/initialized" ? 202 : 200);
    }
    // Legacy clients ask once a connection whether there is a stream.
    const others = proxy.exchanges.filter(({ method }) => method !== "POST");
    expect(others.filter(({ method, status }) => method !== "GET" || status !== 405)).toEqual([]);
    expect(others.length).toBeLessThanOrEqual(posts.filter(({ rpcMethod }) => rpcMethod === "initialize").length);
  });
});

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
    await expect(connect({ url: stack.url, key: "none" }, { authProvider })).rejects.toThrow(
      /This server has no OAuth\. It takes a brand API key, sent as Authorization: Bearer/,
    );
    expect(redirectToAuthorization).not.toHaveBeenCalled();
  });
});

it.each(["legacy", "modern"])("the Inspector finds no schema that some client could not take, in its %s era", async (era) => {
  const { code, stderr } = await inspector(era, { url: stack.url, key: brand.key }, "--method", "tools/list", "--strict");
  expect({ code, errors: /^Error:.*/m.exec(stderr) }).toEqual({ code: 0, errors: null });
});
