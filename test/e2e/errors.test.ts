import { generateKey } from "@brand-records/ids";
import { eventually } from "@brand-records/testkit";
import { rawRequest, untilClosed } from "../raw-http.ts";
import { callContext, startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";

/** One promise: every error response is JSON of one form, with a code for programs. test/recorded has more of them, whole. */

let stack: SharedStack;
let brand: TestBrand;

beforeAll(async () => {
  // Cuts slow clients off within seconds, and admits all requests of one brand.
  stack = await startOnSharedServices({ HEADERS_TIMEOUT_MS: "1000", REQUEST_TIMEOUT_MS: "1500", RATE_LIMIT_PLUS: "10000" });
  brand = await stack.createBrand();
});
afterAll(() => stack.stop());

const bearer = () => `Bearer ${brand.key}`;

interface Expected {
  status: number;
  code: string;
  field?: string;
}

async function expectError(response: Response, { status, code, field }: Expected): Promise<void> {
  const text = await response.text();
  expect({ status: response.status, type: response.headers.get("content-type"), text }).toMatchObject({
    status,
    type: "application/json; charset=utf-8",
  });
  const { error, ...rest } = JSON.parse(text) as { error: Record<string, unknown> };
  expect(rest).toEqual({});
  expect(error).toEqual({
    code,
    docs_url: expect.stringMatching(new RegExp(`^http:.*/docs/errors#${code}$`)),
    message: expect.stringMatching(/^\S.{10,}$/s),
    ...(field !== undefined && { field }),
    request_id: response.headers.get("x-request-id"),
  });
  expect(text).not.toContain(brand.key);
  expect(response.headers.get("x-powered-by")).toBeNull();
  expect(response.headers.get("cache-control")).toBe("private, no-store");
  expect(response.headers.get("www-authenticate")).toBe(status === 401 ? 'Bearer realm="Brand Records API"' : null);
}

const request = (path: string, init: RequestInit = {}) => fetch(stack.url + path, init);
const authorised = (path: string, init: RequestInit = {}) =>
  request(path, { ...init, headers: { ...init.headers, authorization: bearer() } });

it("never returns or logs a key sent as X-Request-Id by mistake", async () => {
  const response = await authorised("/api/v1/links", { headers: { "x-request-id": brand.key } });
  expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  expect(stack.gateways[0].process.output()).not.toContain(brand.key);
});

describe("the key", () => {
  const wrongKeys: [string, string, () => Record<string, string>][] = [
    ["the key alone", "missing_key", () => ({ authorization: brand.key })],
    ["a truncated key", "invalid_key", () => ({ authorization: `Bearer ${brand.key.slice(0, -1)}` })],
    ["an unknown key", "invalid_key", () => ({ authorization: `Bearer ${generateKey("live")}` })],
  ];
  it.each(wrongKeys)("%s: %s", async (_, code, headers) => {
    await expectError(await request("/api/v1/links", { headers: headers() }), { status: 401, code });
  });

  it("an existing test key on live: invalid_key", async () => {
    const { key } = await stack.createBrand({ environment: "test" });
    await expectError(await stack.get("/api/v1/links", key), { status: 401, code: "invalid_key" });
  });

  it("two Authorization headers, even equal ones: invalid_key", async () => {
    const response = await rawRequest(stack.url, [
      `GET /api/v1/links HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer()}\r\nAuthorization: ${bearer()}\r\n\r\n`,
    ]);
    expect(response.status).toBe(401);
    expect(JSON.parse(response.body)).toMatchObject({ error: { code: "invalid_key" } });
  });

  it("a revoked key: invalid_key, with the same message as for an unknown key", async () => {
    const { key, keyId, owner } = await stack.createBrand();
    expect((await stack.get("/api/v1/links", key)).status).toBe(200);
    await stack.accounts.revokeKey({ key_id: keyId, revoked_by: owner }, callContext());
    const revoked = await stack.get("/api/v1/links", key);
    const unknown = await stack.get("/api/v1/links", generateKey("live"));
    const messageOf = async (response: Response) => ((await response.json()) as { error: { message: string } }).error.message;
    expect(await messageOf(revoked.clone())).toBe(await messageOf(unknown));
    await expectError(revoked, { status: 401, code: "invalid_key" });
  });
});

describe("X-Brand-Id", () => {
  it("names a brand that may not use its keys, on every interface", async () => {
    const { id, key } = await stack.createBrand();
    await stack.accounts.setBrandTier({ brand_id: id, tier: "starter" }, callContext());
    for (const path of ["/api/v1/links", "/api/mcp"]) {
      expect((await stack.get(path, key)).headers.get("x-brand-id")).toBe(id);
    }
  });

  it("is absent without a valid key", async () => {
    for (const response of [
      await request("/api/v1/links"),
      await stack.get("/api/v1/links", generateKey("live")),
      await request("/docs"),
    ]) {
      expect(response.headers.get("x-brand-id")).toBeNull();
    }
  });
});

it.each([
  ["below Plus", "plan_required", (id: string) => stack.accounts.setBrandTier({ brand_id: id, tier: "starter" }, callContext())],
  ["not verified", "brand_not_verified", (id: string) => stack.accounts.setBrandVerified({ brand_id: id, verified: false }, callContext())],
])("a brand that is %s: %s", async (_, code, demote) => {
  const { id, key } = await stack.createBrand();
  await demote(id);
  await expectError(await stack.get("/api/v1/links", key), { status: 403, code });
});

describe("parameters", () => {
  it.each([
    ["limit=1e2", "limit"],
    ["limit=%2B5", "limit"],
    ["limit=+5", "limit"],
    ["Limit=5", "Limit"],
    ["since=2026-11-21T08:30:00", "since"],
    ["since=", "since"],
    ["cursor=a&cursor=a", "cursor"],
  ])("%s: invalid_parameter", async (query, field) => {
    await expectError(await authorised(`/api/v1/links?${query}`), { status: 400, code: "invalid_parameter", field });
  });

  it("understands times as common clients write them, and says from when since is deprecated", async () => {
    for (const query of ["since=2026-11-21T08:30:00+08:00", "since=2026-11-21+08:30:00%2B0800", "created_from=2026-11-21%2008:30:00Z"]) {
      const { status, headers } = await authorised(`/api/v1/links?${query}`);
      const deprecation = query.startsWith("since") ? "@1795824000" : null;
      expect({ query, status, deprecation: headers.get("deprecation") }).toEqual({ query, status: 200, deprecation });
    }
  });

  it.each(["", "x", "bnVsbA", "W10", "%zz", "a".repeat(5_000)])("cursor=%s: invalid_cursor", async (cursor) => {
    await expectError(await authorised(`/api/v1/links?cursor=${cursor}`), { status: 400, code: "invalid_cursor", field: "cursor" });
  });

  it("a cursor of another resource, of another since, or truncated: invalid_cursor", async () => {
    const cursor = Buffer.from(JSON.stringify([1, "links", null, "2026-11-21T08:30:00.000Z", "lnk_1"])).toString("base64url");
    expect((await authorised(`/api/v1/links?cursor=${cursor}`)).status).toBe(200);
    for (const path of [
      `/api/v1/payouts?cursor=${cursor}`,
      `/api/v1/links?cursor=${cursor}&since=2026-01-01T00:00:00Z`,
      `/api/v1/links?cursor=${cursor.slice(0, -1)}`,
    ]) {
      await expectError(await authorised(path), { status: 400, code: "invalid_cursor", field: "cursor" });
    }
  });
});

describe("path and method", () => {
  it("an unknown resource: 401 without a key, unknown_resource with one, whatever the method", async () => {
    await expectError(await request("/api/v1/foo"), { status: 401, code: "missing_key" });
    await expectError(await authorised("/api/v1/foo"), { status: 404, code: "unknown_resource" });
    await expectError(await authorised("/api/v1/foo", { method: "POST", body: "{" }), { status: 404, code: "unknown_resource" });
    await expectError(await authorised("/api/v1/constructor"), { status: 404, code: "unknown_resource" });
  });

  it.each([
    "/api",
    "/api/",
    "/api/v1",
    "/api/v1/",
    "/api/v1/links/",
    "/api/v1/links/lnk_1",
    "/api/v2/links",
    "/api//v1/links",
    "/api/v1/%zz/x",
  ])("%s: 401 without a key, not_found with one", async (path) => {
    await expectError(await request(path), { status: 401, code: "missing_key" });
    await expectError(await authorised(path), { status: 404, code: "not_found" });
  });

  it("%zz as a resource: unknown_resource", async () => {
    await expectError(await authorised("/api/v1/%zz"), { status: 404, code: "unknown_resource" });
  });

  it.each([
    "/",
    "/API/V1/links",
    "/Api/v1/links",
    "/apiv1/links",
    "/%zz",
    "/docs/",
    "/openapi",
    "/index.html",
    "//",
    "/..%2f..%2fetc/passwd",
    "/docs/%2e%2e/x",
  ])("%s: not_found, with or without a key", async (path) => {
    await expectError(await request(path), { status: 404, code: "not_found" });
    await expectError(await authorised(path, { method: "POST" }), { status: 404, code: "not_found" });
  });

  it.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("%s on a list: method_not_allowed, with Allow", async (method) => {
    const response = await authorised("/api/v1/links", { method });
    expect(response.headers.get("allow")).toBe("GET, HEAD");
    await expectError(response, { status: 405, code: "method_not_allowed" });
  });

  it("HEAD returns the headers of GET and no body, also for errors", async () => {
    for (const path of ["/api/v1/links", "/api/v1/foo", "/nothing"]) {
      const [get, head] = [await authorised(path), await authorised(path, { method: "HEAD" })];
      expect(head.status).toBe(get.status);
      expect(await head.text()).toBe("");
      for (const name of ["content-type", "cache-control"]) expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
    const [get, head] = [await authorised("/api/v1/links"), await authorised("/api/v1/links", { method: "HEAD" })];
    expect(head.headers.get("content-length")).toBe(get.headers.get("content-length"));
  });
});

describe("size and time", () => {
  it("a body of 1 MiB: payload_too_large for GET on a list, method_not_allowed for POST", async () => {
    const megabyte = "x".repeat(1024 * 1024);
    const head = (method: string) =>
      `${method} /api/v1/links HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer()}\r\nContent-Length: ${megabyte.length}\r\n\r\n`;
    const get = await rawRequest(stack.url, [head("GET"), megabyte]);
    expect(get.status).toBe(413);
    expect(JSON.parse(get.body)).toMatchObject({ error: { code: "payload_too_large" } });
    await expectError(await authorised("/api/v1/links", { method: "POST", body: megabyte }), { status: 405, code: "method_not_allowed" });
    await expectError(await request("/api/v1/links", { method: "POST", body: megabyte }), { status: 401, code: "missing_key" });
  });

  it("a chunked body of 1 MiB: payload_too_large; a small one is ignored", async () => {
    const head = `GET /api/v1/links HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer()}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    const large = await rawRequest(stack.url, [head, ...Array.from({ length: 16 }, () => chunk), "0\r\n\r\n"]);
    expect(large.status).toBe(413);
    expect(JSON.parse(large.body)).toMatchObject({ error: { code: "payload_too_large" } });
    expect((await rawRequest(stack.url, [head, "1\r\nx\r\n0\r\n\r\n"])).status).toBe(200);
  });

  it.each(["foo://x", "http://[/", "http://", "//a@b#x"])("the target %s, which has no path: not_found", async (target) => {
    const id = `target-${encodeURIComponent(target)}`.replaceAll(/[^\w-]/g, "_");
    const response = await rawRequest(stack.url, [`GET ${target} HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id}\r\n\r\n`]);
    expect(response).toMatchObject({ status: 404, headers: { "content-type": "application/json; charset=utf-8", "x-request-id": id } });
    expect(JSON.parse(response.body)).toMatchObject({ error: { code: "not_found", request_id: id } });
    await eventually(() => expect(stack.gateways[0].process.output()).toContain(id));
  });

  it("garbage after a valid request: the request is still served", async () => {
    const response = await rawRequest(stack.url, [
      `GET /api/v1/links HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer()}\r\n\r\nGARBAGE\r\n\r\n`,
    ]);
    expect(response.status).toBe(200);
  });

  it("a body that never arrives: one response, then the connection ends", async () => {
    const head = `GET /api/v1/links HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer()}\r\nContent-Length: 5\r\n\r\n`;
    const everything = await untilClosed(stack.url, head);
    expect(everything.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
  });

  it("a URL of 9 KiB: uri_too_long", async () => {
    await expectError(await authorised(`/api/v1/links?cursor=${"x".repeat(9 * 1024)}`), { status: 414, code: "uri_too_long" });
  });

  it("a client that sends a byte now and then: request_timeout, and the connection ends", async () => {
    async function* slowly() {
      for (const byte of "GET /api/v1/links HTTP/1.1\r\n") {
        yield byte;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
    const response = await rawRequest(stack.url, slowly());
    expect(response).toMatchObject({ status: 408, headers: { connection: "close" } });
    expect(JSON.parse(response.body)).toMatchObject({ error: { code: "request_timeout" } });
  });
});

describe("every response", () => {
  it("carries the caller's request id if it is valid, otherwise a new one", async () => {
    const idOf = async (given: string) =>
      (await authorised("/api/v1/links", { headers: { "x-request-id": given } })).headers.get("x-request-id");
    expect(await idOf("order-sync_42:a.b")).toBe("order-sync_42:a.b");
    for (const invalid of ["", "a b", "x".repeat(129), "<script>", "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0."])
      expect(await idOf(invalid)).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("is logged without the key", async () => {
    // A new key's first request reaches accounts, too.
    const { key } = await stack.createBrand();
    expect((await request("/api/v1/links", { headers: { authorization: `Bearer ${key}`, "x-request-id": "find-me" } })).status).toBe(200);
    // Logs are written in batches.
    const outputs = await eventually(async () => {
      const { accounts, records } = await stack.outputs();
      const all = [stack.gateways[0].process.output(), accounts, records];
      for (const output of all) expect(output).toContain("find-me");
      return all;
    });
    expect(outputs.join("")).not.toContain(key);
  });
});
