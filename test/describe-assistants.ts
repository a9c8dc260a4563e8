import { inspect } from "node:util";
import { RESOURCE_NAMES } from "@brand-records/resources";
import { seedBrand } from "./seed-brand.ts";
import { startForwardingProxy, type ForwardingProxy } from "./forwarding-proxy.ts";
import { startOnSharedServices, type SharedStack, type TestBrand } from "./stack.ts";

const SIZES = { campaigns: 5, submissions: 11, payouts: 6, deposits: 7, conversions: 8, links: 6 };
const LIMIT_PRO = 20;
/** The HTTP status 401, or the Inspector's exit code for it. */
const UNAUTHENTICATED = /401|exit code 3/;

export interface ToolResult {
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

/** The calls that all clients share. Each rejects if there is no result or the result does not match the tool's schema. */
export interface Assistant {
  listTools(): Promise<readonly { readonly name: string }[]>;
  callTool(name: string, args: Record<string, unknown>): Promise<ToolResult>;
  close(): Promise<void>;
}

export interface Server {
  readonly url: string;
  readonly key: string;
}

export const IDENTITY = { name: "test", version: "1.0.0" };

export const optionsWith = ({ key }: Server) => ({ requestInit: { headers: { Authorization: `Bearer ${key}` } } });
export const endpointOf = ({ url }: Server) => new URL("/api/mcp", url);

export interface ClientKind {
  readonly client: string;
  /** The method of its first message. */
  readonly opening: "initialize" | "server/discover";
  readonly version: string;
  /** MCP-Protocol-Version on every message except the first. */
  readonly header: string | undefined;
  connect(server: Server): Promise<Assistant>;
  /** It reports that connecting failed, but not the server's message. */
  readonly hidesServerErrors?: true;
}

export const LEGACY = { opening: "initialize", version: "2025-11-25", header: "2025-11-25" } as const;
export const STATELESS = { opening: "server/discover", version: "2026-07-28", header: "2026-07-28" } as const;

/** Returns the error as a developer would see it. */
const failureOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    (result) => {
      throw new Error(`unexpected success: ${inspect(result)}`);
    },
    (error: unknown) => inspect(error),
  );

export interface AssistantSystem {
  readonly stack: SharedStack;
  readonly brand: TestBrand;
}

/**
 * Declares the tests that every client must pass. A client gets only the address and the key.
 *
 * @param others declares more tests of the same system. Its argument returns the system, once tests run.
 */
export function describeAssistants(clients: readonly ClientKind[], others: (system: () => AssistantSystem) => void): void {
  let stack: SharedStack;
  let brand: TestBrand;
  beforeAll(async () => {
    stack = await startOnSharedServices({ RATE_LIMIT_PLUS: "10000", RATE_LIMIT_PRO: String(LIMIT_PRO) });
    brand = await stack.createBrand();
    await seedBrand(stack, brand.id, SIZES);
  });
  afterAll(() => stack.stop());

  describe.each(clients)("$client", ({ connect, opening, version, header, hidesServerErrors = false }) => {
    let proxy: ForwardingProxy;
    let assistant: Assistant;
    let tools: Awaited<ReturnType<Assistant["listTools"]>>;

    beforeAll(async () => {
      proxy = await startForwardingProxy(stack.url);
      assistant = await connect({ url: proxy.url, key: brand.key });
      // SDK 1.x validates results with the schemas that it has listed.
      tools = await assistant.listTools();
    });
    afterAll(async () => {
      await assistant.close();
      await proxy.stop();
    });

    it("lists a tool for each resource", () => {
      expect(tools.map(({ name }) => name)).toEqual(RESOURCE_NAMES.map((resource) => `list_${resource}`));
    });

    it("returns the page of the HTTP API, as structured content that matches the schema and as text", async () => {
      const compare = async (resource: string) => {
        const { content, structuredContent, isError } = await assistant.callTool(`list_${resource}`, { limit: 5 });
        expect(isError).toBe(false);
        expect(structuredContent).toEqual(await (await stack.get(`/api/v1/${resource}?limit=5`, brand.key)).json());
        expect(content).toEqual([{ type: "text", text: expect.any(String) }]);
        expect(JSON.parse(content[0]?.text ?? "")).toEqual(structuredContent);
      };
      await Promise.all(RESOURCE_NAMES.map(compare));
    });

    it("returns every record once when paging by next_cursor", async () => {
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

    it("reports an invalid argument to the model, in a result that names the argument", async () => {
      const result = await assistant.callTool("list_links", { limit: 5, since: "yesterday" });
      expect(result).toMatchObject({ isError: true, content: [{ type: "text" }] });
      expect(result.structuredContent).toBeUndefined();
      expect(JSON.parse(result.content[0]?.text ?? "")).toMatchObject({ error: { code: "invalid_parameter", field: "since" } });
    });

    it("fails immediately with a wrong key, and reports the reason", async () => {
      const failure = await failureOf(connect({ url: stack.url, key: "none" }).then((client) => client.listTools()));
      expect(failure).toMatch(UNAUTHENTICATED);
      if (!hidesServerErrors) expect(failure).toMatch(/This API key is not valid here: check that it is complete/);
    });

    it("fails when the brand's limit is used up, and reports how long to wait", async () => {
      const { key } = await stack.createBrand({ tier: "pro" });
      const limited = await connect({ url: stack.url, key });
      await Promise.all(Array.from({ length: LIMIT_PRO }, () => stack.get("/api/v1/links", key)));
      const failure = await failureOf(limited.callTool("list_links", {}));
      await limited.close();
      if (!hidesServerErrors) expect(failure).toMatch(/limit of 20 requests in 60 seconds is used up. Wait \d+ s\./);
    });

    it(`opened with ${opening}, used only ${version}, and sent nothing that was refused`, () => {
      const posts = proxy.exchanges.filter(({ method }) => method === "POST");
      expect(posts[0]).toMatchObject({ rpcMethod: opening });
      for (const { rpcMethod, protocolVersion, status } of posts) {
        expect(protocolVersion).toBe(rpcMethod === "initialize" ? undefined : header);
        expect(status).toBe(rpcMethod === "notifications/initialized" ? 202 : 200);
      }
      // Legacy clients request a stream once per connection.
      const streamRequests = proxy.exchanges.filter(({ method }) => method !== "POST");
      expect(streamRequests.filter(({ method, status }) => method !== "GET" || status !== 405)).toEqual([]);
      expect(streamRequests.length).toBeLessThanOrEqual(posts.filter(({ rpcMethod }) => rpcMethod === "initialize").length);
    });
  });

  others(() => ({ stack, brand }));
}
