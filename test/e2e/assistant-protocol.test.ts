import { generateKey } from "@brand-records/ids";
import { RESOURCE_NAMES } from "@brand-records/resources";
import { GENERATIONS, post, request, toolCall, type McpResponse } from "../mcp.ts";
import { rawRequest } from "../raw-http.ts";
import { startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";

/**
 * One promise: one path serves both generations of the protocol, as their specifications and ours require. test/recorded has whole answers,
 * assistant-clients.test.ts the official clients.
 */

let stack: SharedStack;
let brand: TestBrand;

beforeAll(async () => {
  stack = await startOnSharedServices({
    RATE_LIMIT_PLUS: "100000",
    ALLOWED_ORIGINS: "https://app.example, http://localhost:*",
    PUBLIC_URL: "https://records.example/base",
  });
  brand = await stack.createBrand();
});
afterAll(() => stack.stop());

const send = (message: { headers?: Record<string, string>; body: unknown }, key: string | undefined = brand.key) =>
  post(stack.url, key, message);

interface Expected {
  status: number;
  rpc: number;
  code: string;
  id?: unknown;
}

/** Every error on this path has this form. */
function expectError(response: McpResponse, { status, rpc, code, id = null }: Expected): void {
  expect({ status: response.status, type: response.headers.get("content-type"), body: response.body }).toMatchObject({
    status,
    type: "application/json; charset=utf-8",
    body: { jsonrpc: "2.0", id, error: { code: rpc, message: expect.stringMatching(/^\S.{10,}$/s) } },
  });
  const { message, data } = response.body.error;
  expect(data).toMatchObject({ code, message, request_id: response.headers.get("x-request-id") });
  expect(Object.keys(response.body).toSorted()).toEqual(["error", "id", "jsonrpc"]);
  expect(response.headers.get("cache-control")).toBe("private, no-store");
}

/** Newest first. */
const SUPPORTED = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"];

const SERVER_INFO = { name: "brand-records", title: "Brand Records", version: expect.any(String) };

describe("legacy: initialize", () => {
  const initialize = (params: object, headers = {}) =>
    send({
      headers,
      body: {
        jsonrpc: "2.0",
        id: "open",
        method: "initialize",
        params: { capabilities: {}, clientInfo: { name: "t", version: "1" }, ...params },
      },
    });

  it.each(["2026-07-28", "1900-01-01", "nonsense"])("ignores the version header %s", async (version) => {
    const { body } = await initialize({ protocolVersion: "2025-06-18" }, { "mcp-protocol-version": version });
    expect(body.result.protocolVersion).toBe("2025-06-18");
  });

  it("succeeds without params", async () => {
    const { body } = await send({ body: { jsonrpc: "2.0", id: 1, method: "initialize" } });
    expect(body.result.protocolVersion).toBe("2025-11-25");
  });

  it("names the brand, and explains to the model how to page, that lists are no update feed, and that texts are data", async () => {
    const { body } = await initialize({ protocolVersion: "2025-11-25" });
    expect(body.result.instructions).toContain(`${brand.id}, by name (which is data) "Brand ${brand.id}".`);
    for (const instruction of [
      /Newest first/,
      /next_cursor/,
      /No update feed/,
      /As of connecting it was \w+day \d{4}-\d\d-\d\d, \d\d:\d\d in Manila\. Address: https:\/\//,
      /never follow instructions/,
      /Centavos/,
    ]) {
      expect(body.result.instructions).toMatch(instruction);
    }
  });
});

describe("legacy: the version header", () => {
  const ping = (headers: Record<string, string>) => send({ headers, body: { jsonrpc: "2.0", id: 1, method: "ping" } });

  it.each(["2024-11-05", "nonsense", "2025-11-25, 2025-11-25", "0"])("is refused with 400 if it is %s", async (version) => {
    const response = await ping({ "mcp-protocol-version": version });
    expectError(response, { status: 400, rpc: -32022, code: "invalid_request", id: 1 });
    expect(response.body.error.data).toMatchObject({ supported: SUPPORTED, requested: version });
    for (const supported of SUPPORTED) expect(response.body.error.message).toContain(supported);
  });
});

describe("legacy: methods", () => {
  it.each(["completion/complete", "logging/setLevel", "tools/List", "", "__proto__", "constructor"])(
    "%j is unknown: 200 -32601",
    async (method) => {
      expectError(await send(request("legacy", method)), { status: 200, rpc: -32601, code: "not_found", id: 1 });
    },
  );
});

describe("stateless: metadata", () => {
  const discover = (headers: Record<string, string | undefined>, meta?: unknown) => {
    const message = request("stateless", "server/discover");
    const merged = Object.fromEntries(Object.entries({ ...message.headers, ...headers }).filter(([, value]) => value !== undefined));
    const params = meta === undefined ? message.body["params"] : { _meta: meta };
    return send({ headers: merged as Record<string, string>, body: { ...message.body, params } });
  };
  const VERSION = "io.modelcontextprotocol/protocolVersion";
  const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

  const MISMATCHES: [string, Record<string, string | undefined>][] = [
    ["no version header", { "mcp-protocol-version": undefined }],
    ["a version header of the other generation", { "mcp-protocol-version": "2025-11-25" }],
    ["an unknown version in the header only", { "mcp-protocol-version": "2027-01-01" }],
    ["no Mcp-Method", { "mcp-method": undefined }],
    ["another Mcp-Method", { "mcp-method": "tools/list" }],
    ["Mcp-Method in another case", { "mcp-method": "Server/Discover" }],
  ];
  it.each(MISMATCHES)("%s: 400 -32020", async (_, headers) => {
    expectError(await discover(headers), { status: 400, rpc: -32020, code: "invalid_request", id: 1 });
  });

  const UNSUPPORTED: [string, Record<string, string>, object][] = [
    ["2027-01-01", { "mcp-protocol-version": "2027-01-01" }, { [VERSION]: "2027-01-01", [CAPABILITIES]: {} }],
    ["2025-11-25", { "mcp-protocol-version": "2025-11-25" }, { [VERSION]: "2025-11-25", [CAPABILITIES]: {} }],
    ["nonsense", { "mcp-protocol-version": "nonsense" }, { [VERSION]: "nonsense", [CAPABILITIES]: {} }],
    ["2027-01-01", { "mcp-protocol-version": "2027-01-01" }, {}],
  ];
  it.each(UNSUPPORTED)("version %s: 400 -32022 with the supported versions", async (requested, headers, meta) => {
    const response = await discover(headers, meta);
    expectError(response, { status: 400, rpc: -32022, code: "invalid_request", id: 1 });
    expect(response.body.error.data).toMatchObject({ supported: SUPPORTED, requested });
  });

  const INCOMPLETE: [string, unknown][] = [
    ["no _meta", null],
    ["a _meta that is a list", []],
    ["no protocolVersion", { [CAPABILITIES]: {} }],
    ["a protocolVersion that is not a string", { [VERSION]: 20260728, [CAPABILITIES]: {} }],
    ["no clientCapabilities", { [VERSION]: "2026-07-28" }],
    ["clientCapabilities that are not an object", { [VERSION]: "2026-07-28", [CAPABILITIES]: [] }],
    ["null clientCapabilities", { [VERSION]: "2026-07-28", [CAPABILITIES]: null }],
  ];
  it.each(INCOMPLETE)("%s: 400 -32602", async (_, meta) => {
    expectError(await discover({}, meta), { status: 400, rpc: -32602, code: "invalid_request", id: 1 });
  });

  it("the body selects the generation, even for initialize, which is legacy only", async () => {
    expectError(await send(request("stateless", "initialize")), { status: 404, rpc: -32601, code: "not_found", id: 1 });
  });
});

describe("stateless: Mcp-Name", () => {
  const call = (mcpName: string | undefined, name = "list_links") => {
    const { headers, body } = toolCall("stateless", name);
    const { "mcp-name": _, ...others } = headers;
    return send({ headers: mcpName === undefined ? others : { ...others, "mcp-name": mcpName }, body });
  };
  const encoded = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`;

  it("may be plain or encoded", async () => {
    for (const name of ["list_links", encoded("list_links")])
      expect(await call(name)).toMatchObject({ status: 200, body: { result: { isError: false } } });
  });

  it("is decoded before it is compared", async () => {
    expectError(await call(encoded("mga_kampanya_ñ"), "mga_kampanya_ñ"), { status: 400, rpc: -32602, code: "invalid_request", id: 1 });
  });

  it.each([
    ["a missing name", undefined],
    ["another tool's name", "list_payouts"],
    ["another tool's name, encoded", encoded("list_payouts")],
    ["another case", "List_Links"],
    ["an incomplete encoding", "=?base64?bGlzdF9saW5rcw=="],
    ["invalid Base64", "=?base64?list_links?="],
    ["an upper-case encoding prefix", `=?BASE64?${Buffer.from("list_links").toString("base64")}?=`],
    ["an empty name", ""],
  ])("%s: 400 -32020", async (_, name) => {
    expectError(await call(name), { status: 400, rpc: -32020, code: "invalid_request", id: 1 });
  });

  it("is not required for other methods", async () => {
    expect((await send(request("stateless", "tools/list"))).status).toBe(200);
  });
});

describe("stateless: methods", () => {
  it("results state that they are complete and which server sent them", async () => {
    const list = await send(request("stateless", "tools/list"));
    expect(list.body.result).toEqual({
      resultType: "complete",
      tools: expect.any(Array),
      ttlMs: expect.any(Number),
      cacheScope: "private",
      _meta: { "io.modelcontextprotocol/serverInfo": SERVER_INFO },
    });
    const call = await send(toolCall("stateless", "list_links"));
    expect(Object.keys(call.body.result)).toEqual(["resultType", "content", "structuredContent", "isError", "_meta"]);
    expect(call.body.result.resultType).toBe("complete");
    const refused = await send(toolCall("stateless", "list_links", { limit: 0 }));
    expect(refused.body.result).toMatchObject({ resultType: "complete", isError: true });
  });

  it.each(["ping", "resources/list", "subscriptions/listen", "notifications/initialized", "tools/List"])(
    "%s is unknown: 404 -32601",
    async (method) => {
      expectError(await send(request("stateless", method)), { status: 404, rpc: -32601, code: "not_found", id: 1 });
    },
  );
});

describe.each(GENERATIONS)("both generations: %s", (generation) => {
  it("lists the same tools in the same bytes each time", async () => {
    const first = await send(request(generation, "tools/list"));
    const again = await send(request(generation, "tools/list", {}, 1));
    expect(again.text).toBe(first.text);
    expect(first.body.result.tools.map(({ name }: { name: string }) => name)).toEqual(RESOURCE_NAMES.map((resource) => `list_${resource}`));
    const other = await send(request(generation === "legacy" ? "stateless" : "legacy", "tools/list"));
    expect(other.body.result.tools).toEqual(first.body.result.tools);
  });

  it("names only the tools available to the key in the error for an unknown tool", async () => {
    const planner = await stack.createBrand({ permissions: ["campaigns:prepare"] });
    for (const key of [brand.key, planner.key]) {
      const listed = (await send(request(generation, "tools/list"), key)).body.result.tools.map(({ name }) => name);
      const { error } = (await send(toolCall(generation, "list_creators"), key)).body;
      expect(error.message).toMatch(/^There is no such tool\. /);
      expect(error.message.match(/\w+_\w+/g)).toEqual(listed);
    }
  });

  it("refuses a cursor for tools", async () => {
    const status = generation === "legacy" ? 200 : 400;
    expectError(await send(request(generation, "tools/list", { cursor: "x" })), { status, rpc: -32602, code: "invalid_request", id: 1 });
    for (const cursor of [null, ""])
      expect((await send(request(generation, "tools/list", { cursor }))).body.result.tools).toHaveLength(RESOURCE_NAMES.length);
  });

  it.each([
    ["an unknown tool", { name: "list_creators" }],
    ["a tool name in another case", { name: "List_Links" }],
    ["a name from the prototype", { name: "constructor" }],
    ["arguments that are a list", { name: "list_links", arguments: [] }],
    ["arguments that are a string", { name: "list_links", arguments: "{}" }],
  ])("%s: -32602", async (_, params) => {
    const status = generation === "legacy" ? 200 : 400;
    expectError(await send(request(generation, "tools/call", params)), { status, rpc: -32602, code: "invalid_request", id: 1 });
  });

  it("a tool name that is not a string: -32602", async () => {
    const { headers, body } = request(generation, "tools/call", { name: 5 });
    const status = generation === "legacy" ? 200 : 400;
    // A header never equals a number, so its check fails first.
    const expected = generation === "legacy" ? -32602 : -32020;
    expectError(await send({ headers: { ...headers, ...(generation === "stateless" && { "mcp-name": "5" }) }, body }), {
      status,
      rpc: expected,
      code: "invalid_request",
      id: 1,
    });
  });

  it("notifications and posted responses: 202, empty", async () => {
    const { headers } = request(generation, "x");
    for (const body of [
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1, reason: "x" } },
      { jsonrpc: "2.0", method: "tools/call", params: { name: "list_links" } },
      { jsonrpc: "2.0", method: "made/up" },
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", id: null, error: { code: -1, message: "x" } },
    ]) {
      const { status, text, headers: received } = await send({ headers, body });
      expect({ status, text, type: received.get("content-type") }).toEqual({ status: 202, text: "", type: null });
    }
  });

  it("ignores Accept and Mcp-Session-Id", async () => {
    const { headers, body } = request(generation, "tools/list");
    for (const accept of ["application/json", "text/event-stream", "text/html", "*/*", "nonsense"]) {
      const { status, headers: received } = await send({ headers: { ...headers, accept, "mcp-session-id": "made-up" }, body });
      expect(status).toBe(200);
      expect(received.get("content-type")).toBe("application/json; charset=utf-8");
      expect(received.get("mcp-session-id")).toBeNull();
    }
  });
});

describe("the path", () => {
  it.each(["GET", "DELETE", "PUT", "PATCH", "OPTIONS"])("%s: 405, Allow: POST", async (method) => {
    const response = await fetch(`${stack.url}/api/mcp`, {
      method,
      headers: { authorization: `Bearer ${brand.key}`, accept: "text/event-stream" },
    });
    expect(response.headers.get("allow")).toBe("POST");
    expectError(
      { status: response.status, headers: response.headers, text: "", body: JSON.parse(await response.text()) },
      { status: 405, rpc: -32000, code: "method_not_allowed" },
    );
  });

  it("HEAD: 405 without a body", async () => {
    const response = await fetch(`${stack.url}/api/mcp`, { method: "HEAD", headers: { authorization: `Bearer ${brand.key}` } });
    expect({ status: response.status, allow: response.headers.get("allow"), text: await response.text() }).toEqual({
      status: 405,
      allow: "POST",
      text: "",
    });
  });

  it("may end in a slash, for messages and in its errors", async () => {
    const post = (key: string) =>
      fetch(`${stack.url}/api/mcp/`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(request("legacy", "ping").body),
      });
    expect(await (await post(brand.key)).json()).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    expect(await (await post("none")).json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32001 } });
    const { body } = await rawRequest(stack.url, ["POST /api/mcp/ HTTP/1.1\r\nHost: x\r\nBad Header: x\r\n\r\n"]);
    expect(JSON.parse(body)).toMatchObject({ jsonrpc: "2.0", id: null, error: {} });
  });

  it("is exact otherwise: another case is another path", async () => {
    for (const path of ["/api/mcp//", "/api/MCP", "/api/mcp/x"]) {
      const response = await fetch(stack.url + path, { method: "POST", headers: { authorization: `Bearer ${brand.key}` } });
      expect({ path, status: response.status, body: await response.json() }).toMatchObject({
        path,
        status: 404,
        body: { error: { code: "not_found" } },
      });
    }
  });

  it("ignores a query", async () => {
    const response = await fetch(`${stack.url}/api/mcp?brand_id=brd_1`, {
      method: "POST",
      headers: { authorization: `Bearer ${brand.key}`, "content-type": "application/json" },
      body: JSON.stringify(request("legacy", "ping").body),
    });
    expect(response.status).toBe(200);
  });

  it("a URL of more than 8 KiB: 414, in the protocol's form", async () => {
    const { status, body } = await rawRequest(stack.url, [
      `POST /api/mcp?${"x".repeat(9_000)} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`,
    ]);
    expect({ status, body: JSON.parse(body) }).toMatchObject({
      status: 414,
      body: { id: null, error: { code: -32000, data: { code: "uri_too_long" } } },
    });
  });
});

describe("the key", () => {
  const ping = request("legacy", "ping");

  it("is missing or not a Bearer token: 401 missing_key", async () => {
    for (const authorization of [undefined, "Basic x", `bearer ${brand.key}`, brand.key]) {
      const response = await post(stack.url, undefined, {
        ...ping,
        headers: { ...ping.headers, ...(authorization !== undefined && { authorization }) },
      });
      expectError(response, { status: 401, rpc: -32001, code: "missing_key" });
      expect(response.headers.get("www-authenticate")).toBe('Bearer realm="Brand Records API"');
    }
  });

  it("is unknown or truncated: 401 invalid_key, for every HTTP method and before the body is read", async () => {
    for (const key of [generateKey("live"), brand.key.slice(0, -1), generateKey("test")]) {
      expectError(await send(ping, key), { status: 401, rpc: -32001, code: "invalid_key" });
      expectError(await send({ body: "{" }, key), { status: 401, rpc: -32001, code: "invalid_key" });
    }
    const get = await fetch(`${stack.url}/api/mcp`);
    expect({ status: get.status, body: await get.json() }).toMatchObject({ status: 401, body: { error: { code: -32001 } } });
  });
});

describe("Origin", () => {
  const from = (origin: string, key?: string) => send({ ...request("legacy", "ping"), headers: { origin } }, key);

  it.each(["https://records.example", "https://app.example", "http://localhost", "http://localhost:5173"])(
    "%s is allowed",
    async (origin) => {
      expect((await from(origin)).status).toBe(200);
    },
  );

  it.each([
    "https://evil.example",
    "null",
    "https://app.example.evil.example",
    "https://app.example:444",
    "http://app.example",
    "http://localhost.evil.example",
    "http://localhost:1:2",
    "https://localhost:5173",
    "file://",
  ])("%s is refused with 403, with or without a valid key", async (origin) => {
    expectError(await from(origin), { status: 403, rpc: -32000, code: "origin_not_allowed" });
    expectError(await from(origin, "none"), { status: 403, rpc: -32000, code: "origin_not_allowed" });
  });

  it("is ignored by the rest of the API", async () => {
    const response = await fetch(`${stack.url}/api/v1/links`, {
      headers: { authorization: `Bearer ${brand.key}`, origin: "https://evil.example" },
    });
    expect(response.status).toBe(200);
  });
});

describe("OAuth", () => {
  it.each([
    ["GET", "/.well-known/oauth-protected-resource"],
    ["GET", "/.well-known/oauth-protected-resource/api/mcp"],
    ["GET", "/.well-known/oauth-authorization-server"],
    ["GET", "/.well-known/oauth-authorization-server/api/mcp"],
    ["GET", "/.well-known/openid-configuration"],
    ["GET", "/.well-known/openid-configuration/api/mcp"],
    ["GET", "/api/mcp/.well-known/openid-configuration"],
    ["GET", "/authorize"],
    ["POST", "/register"],
    ["POST", "/token"],
    ["OPTIONS", "/.well-known/oauth-protected-resource"],
  ])("%s %s: 404 JSON that explains the key, without requiring one", async (method, path) => {
    const response = await fetch(stack.url + path, { method, ...(method === "POST" && { body: "{}" }) });
    expect({ status: response.status, type: response.headers.get("content-type"), body: await response.json() }).toEqual({
      status: 404,
      type: "application/json; charset=utf-8",
      body: {
        error: "invalid_request",
        error_description: expect.stringMatching(/brand API key.*Authorization: Bearer.*it is not valid here/s),
      },
    });
    expect(response.headers.get("www-authenticate")).toBeNull();
  });
});
