import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "@brand-records/postgres/embedded";
import { RESOURCE_NAMES, type ResourceName } from "@brand-records/resources";
import { killWithParent } from "@brand-records/testkit";
import { parse } from "yaml";
import { planInput } from "../plan-input.ts";
import { startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";
import { importStrangers, type StrangersRecords } from "../strangers/import.ts";
import { installedRuntime } from "./installed-runtime.ts";

/** One promise: prism, which validates requests and responses by the description, finds nothing wrong with the strangers' corpus. */

const START_MS_MAX = 5 * 60_000;
const LIMIT = 20;
/** Prism passes on what is described alone: here as a list. The method of the last is none of its path. */
const NOT_DESCRIBED = ["/api/v1/nothing", "/api/nothing", "/api/v1/links"];

let stack: SharedStack;
let brand: TestBrand;
let planner: TestBrand;
let limited: TestBrand;
let strangers: StrangersRecords;
let folder: string;
let url: string;
/** Validates by a description that no response matches. */
let controlUrl: string;
const prisms: ChildProcess[] = [];

beforeAll(async () => {
  stack = await startOnSharedServices({ RATE_LIMIT_PLUS: "100000", RATE_LIMIT_PRO: "1" });
  brand = await stack.createBrand();
  planner = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  limited = await stack.createBrand({ tier: "pro" });
  strangers = await importStrangers(stack, brand);
  folder = await mkdtemp(join(tmpdir(), "prism-"));
  const description = parse(await (await fetch(`${stack.url}/openapi/service.yaml`)).text()) as {
    paths: Record<string, { get?: object; post?: object | undefined }>;
  };
  const { paths } = description;
  for (const path of NOT_DESCRIBED) paths[path] = { ...paths["/api/v1/links"], post: paths["/api/v1/links"]?.get };
  url = await startPrism("service.json", JSON.stringify(description));
  controlUrl = await startPrism("control.json", JSON.stringify(withMissingField(description)));
}, START_MS_MAX);
afterAll(async () => {
  for (const prism of prisms) prism.kill("SIGKILL");
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Every object requires a field that there is not. */
const withMissingField = (description: unknown): unknown =>
  JSON.parse(JSON.stringify(description), (name, value: unknown) =>
    name === "required" && Array.isArray(value) ? [...(value as unknown[]), "missing"] : value,
  );

async function startPrism(file: string, text: string): Promise<string> {
  const description = join(folder, file);
  await writeFile(description, text);
  const program = await installedRuntime("@stoplight/prism-cli", "dist/index.js");
  const port = await freePort();
  const args = ["proxy", description, stack.url, "--host", "127.0.0.1", "--port", String(port)];
  const prism = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  prisms.push(prism);
  killWithParent(prism);
  const lines: string[] = [];
  for await (const line of createInterface(prism.stdout)) {
    lines.push(line);
    if (line.includes("Prism is listening")) {
      prism.stdout.resume();
      return `http://127.0.0.1:${port}`;
    }
  }
  throw new Error(`prism did not start:\n${lines.join("\n")}`);
}

/** What prism says of an exchange. */
interface Judged {
  readonly status: number;
  readonly body: unknown;
  /** Where the request or the response differs from the description, and how. */
  readonly violations: readonly string[];
}

async function ask(path: string, key: string | undefined, init: RequestInit = {}, proxy = url): Promise<Judged> {
  // Prism passes on the header of compression, and not the compressed body.
  const headers = { "accept-encoding": "identity", ...(key !== undefined && { authorization: `Bearer ${key}` }), ...init.headers };
  const response = await fetch(`${proxy}${path}`, { ...init, headers });
  const violations = JSON.parse(response.headers.get("sl-violations") ?? "[]") as { location: string[]; message: string }[];
  const text = await response.text();
  return {
    status: response.status,
    body: response.headers.get("content-type")?.startsWith("application/json") === true ? JSON.parse(text) : text,
    violations: violations.map(({ location, message }) => `${location.join(".")}: ${message}`),
  };
}

const post = (path: string, key: string, body: object, proxy = url): Promise<Judged> =>
  ask(path, key, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }, proxy);

const ofResponse = ({ violations }: Judged): string[] => violations.filter((violation) => violation.startsWith("response"));

describe.each(RESOURCE_NAMES)("%s", (resource: ResourceName) => {
  it("are read page by page", async () => {
    const records = [];
    let cursor: string | undefined;
    do {
      const query: string = cursor === undefined ? "" : `&cursor=${cursor}`;
      const { status, body, violations } = await ask(`/api/v1/${resource}?limit=${LIMIT}${query}`, brand.key);
      expect({ status, violations }).toEqual({ status: 200, violations: [] });
      const page = body as { readonly data: object[]; readonly next_cursor?: string };
      records.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(records).toEqual(strangers[resource]);
  });

  it("are filtered", async () => {
    const [first] = strangers[resource];
    const filters = {
      id: first?.id,
      status: first?.["status"],
      created_from: first?.created_at,
      created_before: "9999-12-31T23:59:59.999Z",
    };
    for (const [name, value] of Object.entries(filters)) {
      const { status, violations } = await ask(`/api/v1/${resource}?${name}=${encodeURIComponent(String(value))}`, brand.key);
      expect({ name, status, violations }).toEqual({ name, status: 200, violations: [] });
    }
  });
});

it("a plan is prepared, repeated and refused", async () => {
  const plan = planInput({ planned_for: "2020-01-01" });
  const judged = [
    await post("/api/v1/campaign-plans", planner.key, plan),
    await post("/api/v1/campaign-plans", planner.key, plan),
    await post("/api/v1/campaign-plans", planner.key, { ...plan, title: "Another" }),
    await post("/api/v1/campaign-plans", brand.key, plan),
  ];
  expect(judged.map(({ status, violations }) => [status, violations])).toEqual([201, 200, 409, 403].map((status) => [status, []]));
});

it("assistants are answered", async () => {
  for (const method of ["ping", "tools/list", "none"]) {
    const { status, violations } = await post("/api/mcp", brand.key, { jsonrpc: "2.0", id: 1, method });
    expect({ status, violations }).toEqual({ status: 200, violations: [] });
  }
});

it("the description describes itself", async () => {
  for (const form of ["yaml", "json"]) {
    const { status, violations } = await ask(`/openapi/service.${form}`, undefined);
    expect({ status, violations }).toEqual({ status: 200, violations: [] });
  }
});

/** Requests that are refused, by the status and the reason. Some requests are not as described. */
async function refusals(proxy: string): Promise<Record<string, Judged>> {
  const path = "/api/v1/links";
  await ask(path, limited.key);
  return {
    "400, a cursor": await ask(`${path}?cursor=x`, brand.key, {}, proxy),
    "400, a limit": await ask(`${path}?limit=0`, brand.key, {}, proxy),
    "400, a plan": await post("/api/v1/campaign-plans", planner.key, {}, proxy),
    "401, no key": await ask(path, undefined, {}, proxy),
    "401, another key": await ask(path, "none", {}, proxy),
    "404, a resource": await ask("/api/v1/nothing", brand.key, {}, proxy),
    "404, a path": await ask("/api/nothing", brand.key, {}, proxy),
    "405, a method": await post(path, brand.key, {}, proxy),
    "429, too many": await ask(path, limited.key, {}, proxy),
  };
}

it("errors have their form, also where the request has not", async () => {
  const refused = await refusals(url);
  for (const [name, judged] of Object.entries(refused)) {
    expect({ name, status: judged.status, wrong: ofResponse(judged) }).toEqual({ name, status: Number(name.slice(0, 3)), wrong: [] });
  }
  expect(refused["400, a limit"]?.violations).not.toEqual([]);
});

it("a response that is not as described is found in each", async () => {
  const judged = {
    ...(await refusals(controlUrl)),
    plan: await post("/api/v1/campaign-plans", planner.key, planInput(), controlUrl),
    ping: await post("/api/mcp", brand.key, { jsonrpc: "2.0", id: 1, method: "ping" }, controlUrl),
  };
  expect(Object.entries(judged).filter(([, each]) => ofResponse(each).length === 0)).toEqual([]);
  for (const resource of RESOURCE_NAMES) {
    const page = await ask(`/api/v1/${resource}?limit=${LIMIT}`, brand.key, {}, controlUrl);
    expect([resource, ofResponse(page).length]).toEqual([resource, 1 + LIMIT]);
  }
});
