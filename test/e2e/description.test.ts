import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { EVENT_TYPE_NAMES, RESOURCE_NAMES } from "@brand-records/resources";
import { openPool } from "@brand-records/postgres";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { parse } from "yaml";
import { post } from "../mcp.ts";
import { postPlan } from "../plan-input.ts";
import { callContext, startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";

/** One promise: the OpenAPI description is valid, and responses match it. */

interface Media {
  schema: object;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}
interface Described {
  $ref?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, Media>;
}
interface Operation {
  parameters?: (Media & { name: string })[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Described>;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { $ref: string }>;
  components: {
    pathItems: Record<string, { post: Operation }>;
    responses: Record<string, Described>;
    schemas: Record<string, object>;
  };
}

let stack: SharedStack;
let brand: TestBrand;
let yaml: string;
let document: Document;
let ajv: Ajv2020;

beforeAll(async () => {
  stack = await startOnSharedServices({ PUBLIC_URL: "https://api.brand-records.example/" });
  brand = await stack.createBrand({ tier: "enterprise" });
  yaml = await (await fetch(`${stack.url}/openapi/service.yaml`)).text();
  document = parse(yaml) as Document;
  ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: "https://description.example/service", ...document });
});
afterAll(() => stack.stop());

function described(path: string, status: number): Described {
  const response = document.paths[path]?.["get"]?.responses[String(status)];
  const name = response?.$ref?.split("/").at(-1);
  const found = name === undefined ? response : document.components.responses[name];
  if (found === undefined) throw new Error(`${path} ${status} is not described`);
  return found;
}

function validatorOf(media: Media): ValidateFunction {
  return ajv.compile(JSON.parse(JSON.stringify(media.schema).replaceAll('"#/', '"https://description.example/service#/')) as object);
}

async function expectDescribed(path: string, response: Response): Promise<void> {
  const { content, headers = {} } = described(path, response.status);
  const [type, media] = Object.entries(content ?? {})[0] ?? [];
  if (media === undefined) throw new Error(`${path} ${response.status} has no content described`);
  expect(response.headers.get("content-type")).toMatch(new RegExp(`^${type}(;|$)`));
  const validate = validatorOf(media);
  const body: unknown = await response.json();
  expect({ valid: validate(body), errors: validate.errors, body }).toMatchObject({ valid: true });
  const { Deprecation: _onlyWithSince, ...always } = headers;
  for (const name of Object.keys(always)) expect({ name, value: response.headers.get(name) }).toEqual({ name, value: expect.any(String) });
}

it("passes Redocly's lint", async () => {
  const directory = await mkdtemp(join(tmpdir(), "description-"));
  const file = join(directory, "service.yaml");
  await writeFile(file, yaml);
  const lint = promisify(execFile)(process.execPath, ["node_modules/@redocly/cli/bin/cli.js", "lint", file], {
    env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", CI: "true" },
  });
  const { stderr } = await lint;
  await rm(directory, { recursive: true });
  expect(stderr).toContain("Your API description is valid");
  expect(stderr).not.toMatch(/warning/i);
});

it("describes preparing a plan: its example is accepted and replayed, and every response matches", async () => {
  const path = "/api/v1/campaign-plans";
  const { requestBody, responses } = (document.paths[path] ?? {})["post"] as unknown as {
    requestBody: { content: Record<string, Media> };
    responses: Record<string, Described>;
  };
  const mediaOf = (status: string): Media => responses[status]?.content?.["application/json"] as Media;
  const plan = requestBody.content["application/json"] as Media;
  expect(validatorOf(plan)(plan.example)).toBe(true);
  expect(validatorOf(plan)({ ...(plan.example as object), notes: null, platforms: null })).toBe(true);
  expect(validatorOf(plan)({ ...(plan.example as object), title: null })).toBe(false);
  const { key } = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  const send = (body: object, as = key) => postPlan(stack.url, as, body);
  const example = plan.example as Record<string, unknown>;
  const responsesByStatus: [number, Response][] = [
    [201, await send(example)],
    [200, await send(example)],
    [409, await send({ ...example, title: "Another" })],
    [400, await send({ ...example, planning_budget: 0 })],
    [403, await send(example, brand.key)],
  ];
  for (const [status, response] of responsesByStatus) {
    const validate = validatorOf(mediaOf(String(status)));
    const body: unknown = await response.json();
    expect({ status: response.status, valid: validate(body), errors: validate.errors }).toMatchObject({ status, valid: true });
    for (const name of Object.keys(responses[String(status)]?.headers ?? {})) {
      expect({ name, value: response.headers.get(name) }).toEqual({ name, value: expect.any(String) });
    }
  }
  for (const status of Object.keys(responses)) {
    const { examples = {}, example: single } = mediaOf(status);
    const values = [...Object.values(examples).map(({ value }) => value), single].filter((value) => value !== undefined);
    for (const value of values) expect({ status, valid: validatorOf(mediaOf(status))(value) }).toEqual({ status, valid: true });
  }
});

it("describes the assistants' messages: its examples are accepted, and the responses match", async () => {
  const { requestBody, responses } = (document.paths["/api/mcp"] ?? {})["post"] as unknown as {
    requestBody: { content: Record<string, Media> };
    responses: Record<string, Described>;
  };
  const mediaOf = (from: Described | undefined): Media => from?.content?.["application/json"] as Media;
  const isMessage = validatorOf(mediaOf(requestBody));
  const isResponse = validatorOf(mediaOf(responses["200"]));
  const examples = Object.entries(mediaOf(requestBody).examples ?? {});
  expect(examples).toHaveLength(4);
  for (const [name, { value }] of examples) {
    const headers = name.endsWith("2026-07-28")
      ? { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "list_campaigns" }
      : {};
    const response = await post(stack.url, brand.key, { headers, body: value });
    expect({ name, message: isMessage(value), status: response.status, response: isResponse(response.body) }).toEqual({
      name,
      message: true,
      status: 200,
      response: true,
    });
    expect(response.body.result).toEqual(expect.any(Object));
  }
  for (const [status, response] of Object.entries(responses)) {
    if (status !== "202")
      expect({ status, valid: validatorOf(mediaOf(response))(mediaOf(response).example) }).toEqual({ status, valid: true });
  }
});

describe("an event's description", () => {
  const requestOf = (type: string): Operation | undefined =>
    document.components.pathItems[document.webhooks[type]?.$ref.split("/").at(-1) ?? ""]?.post;
  const bodyOf = (type: string): Media => requestOf(type)?.requestBody?.content["application/json"] as Media;

  it("covers each event type, and explains the effect of every response", () => {
    expect(Object.keys(document.webhooks)).toEqual(EVENT_TYPE_NAMES);
    for (const { post } of Object.values(document.components.pathItems)) {
      expect(Object.keys(post.responses).toSorted()).toEqual(["2XX", "410", "429", "503", "default"]);
    }
  });

  it.each(EVENT_TYPE_NAMES)("of %s has examples of body and headers that match it", (type) => {
    const accepts = validatorOf(bodyOf(type));
    const example = bodyOf(type).example as { type: string; data: Record<string, unknown> };
    expect({ valid: accepts(example), errors: accepts.errors }).toEqual({ valid: true, errors: null });
    expect(example).toMatchObject({ type, data: { status: type.split(".")[1] } });
    const headers = requestOf(type)?.parameters ?? [];
    expect(headers).toHaveLength(7);
    for (const { name, ...header } of headers) {
      expect({ name, valid: validatorOf(header)(header.example) }).toEqual({ name, valid: true });
    }
  });

  it.each(EVENT_TYPE_NAMES)("of %s accepts additional fields, but no missing ones and no other type", (type) => {
    const accepts = validatorOf(bodyOf(type));
    const example = bodyOf(type).example as { data: Record<string, unknown> };
    expect(accepts({ ...example, more: 1, data: { ...example.data, more: { again: true } } })).toBe(true);
    for (const name of Object.keys(example))
      expect({ name, valid: accepts({ ...example, [name]: undefined }) }).toEqual({ name, valid: false });
    for (const name of Object.keys(example.data)) {
      expect({ name, valid: accepts({ ...example, data: { ...example.data, [name]: undefined } }) }).toEqual({ name, valid: false });
    }
    const others = EVENT_TYPE_NAMES.filter((other) => other !== type);
    for (const other of others) expect({ other, valid: accepts(bodyOf(other).example) }).toEqual({ other, valid: false });
  });
});

it("is what the types of @brand-records/client were written from", async () => {
  await promisify(execFile)(process.execPath, ["scripts/client-types.js", "--check", stack.url]);
});

it("names the public URL as its server, and is the same as JSON", async () => {
  expect(yaml).toContain("url: https://api.brand-records.example\n");
  expect(await (await fetch(`${stack.url}/openapi/service.json`)).json()).toEqual(parse(yaml));
});

it("the reference loads nothing from elsewhere", async () => {
  const script = await (await fetch(`${stack.url}/docs/redoc.standalone.js`)).text();
  expect(script).toContain("data:image/svg+xml,");
  expect(script).not.toMatch(/src:\s*"https?:/);
});

describe.each(["/openapi/service.yaml", "/openapi/service.json", "/docs", "/docs/redoc.standalone.js"])("%s", (path) => {
  it("needs no key, is compressed in advance and sent with its length, and is not sent again unchanged", async () => {
    const get = (headers = {}) => fetch(stack.url + path, { headers: { "accept-encoding": "gzip", ...headers } });
    const { status, headers } = await get();
    expect({ status, coding: headers.get("content-encoding") }).toEqual({ status: 200, coding: path === "/docs" ? null : "gzip" });
    expect(headers.get("content-length")).toMatch(/^[1-9]\d+$/);
    const etag = headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[^"]+"$/);
    const known = await get({ "if-none-match": etag });
    expect({ status: known.status, etag: known.headers.get("etag"), text: await known.text() }).toEqual({ status: 304, etag, text: "" });
  });

  it("allows only GET and HEAD", async () => {
    const response = await fetch(stack.url + path, { method: "POST" });
    expect({ status: response.status, allow: response.headers.get("allow") }).toEqual({ status: 405, allow: "GET, HEAD" });
  });
});

describe.each(RESOURCE_NAMES)("%s", (resource) => {
  it("matches its description when empty, with every nullable field null, and with no field null", async () => {
    const path = `/api/v1/${resource}`;
    const fresh = await stack.createBrand({ tier: "enterprise" });
    await expectDescribed(path, await stack.get(path, fresh.key));
    const { example } = described(path, 200).content?.["application/json"] ?? { schema: {} };
    const [full] = (example as { data: Record<string, unknown>[] }).data;
    const bare = await recordWithNulls(resource, full ?? {});
    for (const record of [full, bare]) await insert(resource, fresh.id, record ?? {});
    const response = await stack.get(`${path}?limit=2`, fresh.key);
    const copy = response.clone();
    await expectDescribed(path, response);
    const page = (await copy.json()) as { data: Record<string, unknown>[]; next_cursor: string };
    expect(page.data).toContainEqual(full);
    expect(page.data).toContainEqual(bare);
    expect(page.next_cursor).toEqual(expect.any(String));
  });

  it("has examples that match its description", () => {
    for (const [status, response] of Object.entries(document.paths[`/api/v1/${resource}`]?.["get"]?.responses ?? {})) {
      const media = described(`/api/v1/${resource}`, Number(status)).content?.["application/json"];
      expect({ status, response, media }).toMatchObject({ media: expect.anything() });
      const validate = validatorOf(media as Media);
      const examples = [media?.example, ...Object.values(media?.examples ?? {}).map(({ value }) => value)].filter(
        (value) => value !== undefined,
      );
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) expect({ valid: validate(example), errors: validate.errors, example }).toMatchObject({ valid: true });
    }
  });

  it("fails as described", async () => {
    const path = `/api/v1/${resource}`;
    const { key, id } = await stack.createBrand();
    await expectDescribed(path, await fetch(stack.url + path));
    await expectDescribed(path, await stack.get(`${path}?limit=0`, key));
    await expectDescribed(path, await stack.get(`${path}?cursor=x`, key));
    await Promise.all(Array.from({ length: 60 }, () => stack.get(path, key)));
    await expectDescribed(path, await stack.get(path, key));
    await stack.accounts.setBrandTier({ brand_id: id, tier: "starter" }, callContext());
    await expectDescribed(path, await stack.get(path, key));
  });
});

it("fails as described when a service is unavailable or hangs", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  for (const [records, status] of [
    [`127.0.0.1:${(silent.address() as AddressInfo).port}`, 504],
    ["127.0.0.1:1", 503],
  ] as const) {
    const failing = await startOnSharedServices({ REQUEST_DEADLINE_MS: "1000" }, 1, { records });
    const response = await failing.get("/api/v1/links", brand.key);
    await failing.stop();
    expect(response.status).toBe(status);
    await expectDescribed("/api/v1/links", response);
  }
  silent.close();
});

it("serves a documentation page that loads nothing from other hosts", async () => {
  const page = await fetch(`${stack.url}/docs`);
  expect(page.status).toBe(200);
  const html = await page.text();
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(html).not.toMatch(/https?:\/\//);
  const script = await fetch(`${stack.url}/${/src="([^"]+)"/.exec(html)?.[1]}`);
  expect(script.headers.get("content-type")).toMatch(/javascript/);
  expect((await script.text()).length).toBeGreaterThan(100_000);
});

/** Returns the same record under another id, with null in every nullable field. */
async function recordWithNulls(resource: string, full: Record<string, unknown>): Promise<Record<string, unknown>> {
  const title = resource.charAt(0).toUpperCase() + resource.slice(1, -1);
  const schema = document.components.schemas[title] as { properties: Record<string, { type: string | string[] }> };
  const entries = Object.entries(full).map(([name, value]) => [
    name,
    schema.properties[name]?.type.includes("null") === true ? null : value,
  ]);
  return { ...Object.fromEntries(entries), id: `${String(full["id"]).split("_")[0]}_2` };
}

async function insert(resource: string, brandId: string, record: Record<string, unknown>): Promise<void> {
  const db = openPool({ url: stack.databaseUrl, max: 1, applicationName: "test" });
  const columns = ["brand_id", ...Object.keys(record)];
  await db.query(
    `insert into records.${resource} (${columns.join(", ")}) values (${columns.map((_, index) => `$${index + 1}`).join(", ")})`,
    [brandId, ...Object.values(record)],
  );
  await db.stop();
}
