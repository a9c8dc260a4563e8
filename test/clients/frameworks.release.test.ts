import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fieldNames, RESOURCE_NAMES, RESOURCES } from "@brand-records/resources";
import { connectClient2, connectSdk1 } from "../assistant-sdks.ts";
import type { Assistant, Server } from "../describe-assistants.ts";
import { startForwardingProxy } from "../forwarding-proxy.ts";
import { planInput } from "../plan-input.ts";
import { seedBrand } from "../seed-brand.ts";
import { startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";
import { PYTHON, pythonPrograms } from "./installed-runtime.ts";
import { PROGRAMS, runTool } from "./run-tool.ts";

/**
 * One promise: the frameworks that assistants are built with list the tools, call them with and without `fields`, follow five pages and
 * prepare a plan with a warning, over one connection, and nothing is rejected on either side.
 */

/** The newest when they were last looked at. Those of one line share an environment. */
const PYTHON_PACKAGES = {
  "1": ["mcp==1.30.0", "langchain-mcp-adapters==0.3.2"],
  "2": ["mcp==2.3.0", "fastmcp==4.2.3", "pydantic-ai-slim[mcp]==2.68.0"],
} as const;

const INSTALL_MS_MAX = 10 * 60_000;
const LIMIT = 3;
const PAGES = 5;
const FIELDS = ["clicks", "status"];

/** What a framework showed of its calls. */
interface Shown {
  readonly tools: readonly string[];
  readonly whole: unknown;
  readonly pages: readonly unknown[];
  readonly plan: unknown;
}

/** What a program does with the framework. */
type Talk = (server: Server, plan: object) => Promise<Shown>;

const inTypescript =
  (connect: (server: Server) => Promise<Assistant>): Talk =>
  async (server, plan) => {
    const assistant = await connect(server);
    const tools = (await assistant.listTools()).map(({ name }) => name);
    const call = async (name: string, args: object) => {
      const { content, structuredContent } = await assistant.callTool(name, { ...args });
      expect(JSON.parse(content[0]?.text ?? "")).toEqual(structuredContent);
      return structuredContent;
    };
    const whole = await call("list_links", { limit: LIMIT });
    const pages = [];
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const page = await call("list_links", { limit: LIMIT, fields: FIELDS, ...(cursor !== undefined && { cursor }) });
      pages.push(page);
      cursor = page?.next_cursor;
    }
    const shown = { tools, whole, pages, plan: await call("prepare_campaign_plan", plan) };
    await assistant.close();
    return shown;
  };

const inPython =
  (environment: keyof typeof PYTHON_PACKAGES, name: string): Talk =>
  async ({ url, key }, plan) => {
    const command = join(await pythonPrograms(PYTHON_PACKAGES[environment]), "python");
    const program = join(PROGRAMS, "frameworks.py");
    const env = { MCP_URL: `${url}/api/mcp`, KEY: key, PLAN: JSON.stringify(plan) };
    return JSON.parse(await runTool({ ...PYTHON, command }, [program, name], { cwd: tmpdir(), env })) as Shown;
  };

const FRAMEWORKS: readonly (readonly [name: string, talk: Talk])[] = [
  ["TypeScript SDK 1", inTypescript(connectSdk1)],
  ["TypeScript SDK 2", inTypescript(connectClient2("auto"))],
  ["Python mcp 1", inPython("1", "mcp_1")],
  ["langchain-mcp-adapters", inPython("1", "langchain")],
  ["Python mcp 2", inPython("2", "mcp_2")],
  ["fastmcp", inPython("2", "fastmcp")],
  ["pydantic-ai", inPython("2", "pydantic_ai")],
];

let stack: SharedStack;
let brand: TestBrand;
beforeAll(async () => {
  stack = await startOnSharedServices({ RATE_LIMIT_PLUS: "10000" });
  brand = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  const links = PAGES * LIMIT - 1;
  await seedBrand(stack, brand.id, { campaigns: 5, submissions: 5, payouts: 5, deposits: 5, conversions: 5, links });
});
afterAll(() => stack.stop());

/** The pages of HTTP with these fields. */
async function pagesWith(fields: readonly string[]): Promise<object[]> {
  const pages = [];
  for (let query: string | undefined = ""; query !== undefined;) {
    const response = await stack.get(`/api/v1/links?limit=${LIMIT}${query}`, brand.key);
    const page = (await response.json()) as { readonly data: Record<string, unknown>[]; readonly next_cursor?: string };
    pages.push({ ...page, data: page.data.map((record) => Object.fromEntries(fields.map((name) => [name, record[name]]))) });
    query = page.next_cursor === undefined ? undefined : `&cursor=${page.next_cursor}`;
  }
  return pages;
}

it.each(FRAMEWORKS)(
  "%s",
  async (_, talk) => {
    const proxy = await startForwardingProxy(stack.url);
    const plan = planInput({ request_id: randomUUID(), planned_for: "2020-02-29", review_on: "2020-02-28", requirements: ["Vertical"] });
    const shown = await talk({ url: proxy.url, key: brand.key }, plan);
    const pages = await pagesWith(["id", ...FIELDS]);
    expect(pages).toHaveLength(PAGES);
    const [whole] = await pagesWith(fieldNames(RESOURCES.links));
    expect(shown).toEqual({
      tools: [...RESOURCE_NAMES.map((name) => `list_${name}`), "prepare_campaign_plan"],
      whole,
      pages,
      plan: expect.objectContaining({
        request_id: plan.request_id,
        warnings: [
          expect.stringMatching(/^planned_for, 2020-02-29, is before today/),
          expect.stringMatching(/^review_on, 2020-02-28, is before/),
        ],
      }),
    });
    // Legacy clients ask once for a stream, and end a session that there is not.
    const refused = proxy.exchanges.filter(({ status }) => status !== 200 && status !== 202);
    expect(refused.filter(({ method, status }) => method === "POST" || status !== 405)).toEqual([]);
    const opened = proxy.exchanges.filter(({ rpcMethod }) => rpcMethod === "initialize" || rpcMethod === "server/discover");
    expect(opened).toHaveLength(1);
    await proxy.stop();
  },
  INSTALL_MS_MAX,
);
