import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { seedBrand } from "../seed-brand.ts";
import { startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";

/** One promise: the commands in the documentation work. */

let stack: SharedStack;
let brand: TestBrand;

beforeAll(async () => {
  stack = await startOnSharedServices();
  brand = await stack.createBrand({ tier: "enterprise", permissions: ["campaigns:prepare"] });
  await seedBrand(stack, brand.id, { campaigns: 5, submissions: 50, payouts: 150, deposits: 5, conversions: 50, links: 10 });
});
afterAll(() => stack.stop());

const ASSISTANTS = "docs/assistants.md";

/** Returns the fenced blocks of a language. */
async function blocks(file: string, language: string): Promise<string[]> {
  const text = await readFile(file, "utf8");
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, found]) => found === language).map(([, , code = ""]) => code);
}

/** Runs a command as a reader would: in the repository, with the address and the key in the environment. */
async function run(command: string, ...parameters: string[]): Promise<string> {
  const env = { PATH: process.env["PATH"], BRAND_RECORDS_URL: stack.url, BRAND_RECORDS_KEY: brand.key, PLANNER_KEY: brand.key };
  const { stdout } = await promisify(execFile)(command, parameters, { env });
  return stdout;
}

it("every curl call to the assistants' endpoint returns a page", async () => {
  const calls = (await blocks(ASSISTANTS, "sh")).filter((block) => block.startsWith("curl"));
  expect(calls).toHaveLength(2);
  for (const call of calls) {
    const response = JSON.parse(await run("bash", "-euc", call)) as { result: { structuredContent: object } };
    expect(response.result.structuredContent).toMatchObject({ resource: "campaigns", count: 1 });
  }
});

it("preparing a plan as documented returns the documented response, also when repeated", async () => {
  const call = (await blocks("docs/api.md", "sh")).find((block) => block.includes("campaign-plans")) ?? "";
  const documented = (await blocks("docs/api.md", "json")).find((block) => block.includes("review_path")) ?? "";
  const first = await run("bash", "-euc", call);
  const { plan_id: id, created_at: at } = JSON.parse(first) as { plan_id: string; created_at: string };
  const example = JSON.parse(documented) as { plan_id: string; created_at: string };
  expect(JSON.parse(documented.replaceAll(example.plan_id, id).replace(example.created_at, at))).toEqual(JSON.parse(first));
  expect(await run("bash", "-euc", call)).toBe(first);
});

it("the README's calls return what it promises", async () => {
  const calls = (await blocks("README.md", "sh"))
    .flatMap((block) => block.replaceAll("\\\n", "").split("\n"))
    .filter((line) => line.startsWith("curl"));
  const responses = await Promise.all(calls.map((call) => run("bash", "-euc", call.replaceAll("http://127.0.0.1:8080", stack.url))));
  expect(responses.map((response) => JSON.parse(response) as unknown)).toEqual([
    expect.objectContaining({ resource: "campaigns", count: 1 }),
    { error: expect.objectContaining({ code: "invalid_parameter", field: "limit" }) },
    expect.objectContaining({
      result: expect.objectContaining({ structuredContent: expect.objectContaining({ resource: "links", count: 1 }) }),
    }),
  ]);
});

it("the TypeScript client's example adds up all payouts", async () => {
  const [example = ""] = await blocks(ASSISTANTS, "js");
  const page = (await (await stack.get("/api/v1/payouts?limit=200", brand.key)).json()) as {
    data: { status: string; amount_centavos: number }[];
  };
  const paid = page.data.filter(({ status }) => status === "paid").reduce((sum, { amount_centavos: amount }) => sum + amount, 0);
  expect(await run(process.execPath, "--input-type=module", "--eval", example)).toBe(`Paid to creators: PHP ${(paid / 100).toFixed(2)}\n`);
});

/** A JSON block: a client configuration, or a response, which has `resource`. */
interface Configuration {
  readonly resource?: string;
  readonly mcpServers?: Record<string, Server>;
  readonly servers?: Record<string, Server>;
}
interface Server {
  readonly url: string;
  readonly headers: { readonly Authorization: string };
}

it("every client configuration is JSON and sends the key as Bearer to the endpoint", async () => {
  const configurations = (await blocks(ASSISTANTS, "json"))
    .map((block) => JSON.parse(block) as Configuration)
    .filter(({ resource }) => resource === undefined);
  expect(configurations).toHaveLength(3);
  for (const { mcpServers, servers } of configurations) {
    const { url, headers } = (mcpServers ?? servers)?.["brand-records"] ?? {};
    expect(url).toMatch(/\/api\/mcp$/);
    expect(headers?.Authorization).toMatch(/^Bearer \$\{.+\}$/);
  }
});
