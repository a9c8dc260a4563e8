import { windowKey } from "@brand-records/redis";
import { RESOURCE_NAMES } from "@brand-records/resources";
import { eventually } from "@brand-records/testkit";
import { Redis } from "ioredis";
import { logOf, metricsOf } from "../admin-port.ts";
import { GENERATIONS, post, refusalOf, request, toolCall, type McpResponse } from "../mcp.ts";
import { seedBrand } from "../seed-brand.ts";
import { callContext, startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";

/** One promise: tools return the same pages as the HTTP API, of the same brand, within the same limit. */

let redis: Redis;
let stack: SharedStack;
let brand: TestBrand;
let other: TestBrand;

beforeAll(async () => {
  redis = new Redis(process.env["TEST_REDIS_URL"] ?? "");
  stack = await startOnSharedServices({ RATE_LIMIT_ENTERPRISE: "100000" }, 2);
  [brand, other] = await Promise.all([stack.createBrand({ tier: "enterprise" }), stack.createBrand({ tier: "enterprise" })]);
  const sizes = { campaigns: 240, submissions: 250, payouts: 230, deposits: 220, conversions: 210, links: 260 };
  await seedBrand(stack, brand.id, sizes);
  await seedBrand(stack, other.id, { ...sizes, links: 60 });
});
afterAll(async () => {
  await stack.stop();
  redis.disconnect();
});

const call = (generation: (typeof GENERATIONS)[number], name: string, args?: unknown, key = brand.key, gateway = 0) =>
  post(stack.gateways[gateway]?.url ?? "", key, toolCall(generation, name, args));

const pageOf = (response: McpResponse) => {
  const { content, structuredContent, isError } = response.body.result;
  expect({ status: response.status, isError, content }).toEqual({
    status: 200,
    isError: false,
    content: [{ type: "text", text: expect.any(String) }],
  });
  return { text: content[0]?.text ?? "", page: structuredContent };
};

describe.each(GENERATIONS)("%s", (generation) => {
  it.each(RESOURCE_NAMES)("list_%s returns the page of the HTTP API byte for byte, as text and as structured content", async (resource) => {
    for (const [args, query] of [
      [undefined, ""],
      [{}, ""],
      [{ limit: 7 }, "?limit=7"],
      [{ limit: "25" }, "?limit=25"],
      [{ limit: 200 }, "?limit=200"],
      [{ limit: 3, since: "2026-06-01T00:00:00+08:00" }, "?limit=3&since=2026-06-01T00:00:00%2B08:00"],
      [{ limit: null, cursor: "", since: null, fields: "" }, ""],
    ] as const) {
      const http = await stack.get(`/api/v1/${resource}${query}`, brand.key);
      const expected = await http.text();
      const response = await call(generation, `list_${resource}`, args);
      const { text, page } = pageOf(response);
      expect(text).toBe(expected);
      expect(page).toEqual(JSON.parse(expected));
      expect(response.text).toContain(`"structuredContent":${expected}`);
      expect(response.headers.get("cache-control")).toBe("private, no-store");
      expect(response.headers.get("ratelimit-policy")).toBe('"brand";q=100000;w=60');
    }
  });

  it("accepts a cursor of the HTTP API, and the other way round", async () => {
    const http = (await (await stack.get("/api/v1/links?limit=5", brand.key)).json()) as { next_cursor: string };
    const { page } = pageOf(await call(generation, "list_links", { limit: 5, cursor: http.next_cursor }));
    const next = (await (await stack.get(`/api/v1/links?limit=5&cursor=${page.next_cursor}`, brand.key)).json()) as { count: number };
    expect(next.count).toBe(5);
  });

  const wrongArguments: [string, object, string, string][] = [
    ["limit 201", { limit: 201 }, "invalid_parameter", "limit"],
    ["limit 2.5", { limit: 2.5 }, "invalid_parameter", "limit"],
    ["limit as a string with a sign", { limit: "+5" }, "invalid_parameter", "limit"],
    ["limit true", { limit: true }, "invalid_parameter", "limit"],
    ["limit as a list", { limit: [5] }, "invalid_parameter", "limit"],
    ["an invalid cursor", { cursor: "nonsense" }, "invalid_cursor", ""],
    ["a cursor that is a number", { cursor: 5 }, "invalid_parameter", "cursor"],
    ["a date without a time", { since: "2026-11-21" }, "invalid_parameter", "since"],
    ["since as a number", { since: 1763683200 }, "invalid_parameter", "since"],
    ["a field of other records", { fields: ["clicks", "views"] }, "invalid_parameter", "fields"],
    ["another brand", { brand_id: "brd_other" }, "invalid_parameter", "brand_id"],
    ["a filter that does not exist", { status: "pending" }, "invalid_parameter", "status"],
    ["an argument in another case", { Limit: 5 }, "invalid_parameter", "Limit"],
  ];
  it.each(wrongArguments)("refuses %s in a result with isError that names the argument", async (_, args, code, field) => {
    const response = await call(generation, "list_links", args);
    expect(refusalOf(response)).toMatchObject({ code, message: expect.stringMatching(/^\S.{10,}$/s), ...(field !== "" && { field }) });
    expect(refusalOf(response)).toHaveProperty("request_id", response.headers.get("x-request-id"));
  });

  it("reports all wrong arguments in one result", async () => {
    const refusal = refusalOf(await call(generation, "list_links", { limit: 0, cursor: 5, brand_id: "x" }));
    expect(refusal.details?.map(({ field }) => field)).toEqual(["brand_id", "limit", "cursor"]);
  });

  it("returns only the brand's own records for another brand's cursor", async () => {
    const { page } = pageOf(await call(generation, "list_links", { limit: 5 }, other.key));
    const page2 = pageOf(await call(generation, "list_links", { limit: 200, cursor: page.next_cursor }));
    const own = await everyId(brand.key);
    for (const { id } of page2.page.data) expect(own).toContain(id);
  });
});

async function everyId(key: string): Promise<string[]> {
  const ids: string[] = [];
  let cursor = "";
  for (;;) {
    const response = await stack.get(`/api/v1/links?limit=200${cursor}`, key);
    const page = (await response.json()) as { data: { id: string }[]; next_cursor?: string };
    ids.push(...page.data.map(({ id }) => id));
    if (page.next_cursor === undefined) return ids;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

it("never mixes the responses to two keys under 60 concurrent calls", async () => {
  const own = { [brand.key]: new Set(await everyId(brand.key)), [other.key]: new Set(await everyId(other.key)) };
  const keys = [brand.key, other.key];
  const responses = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const key = keys[index % 2] ?? "";
      const message = toolCall(GENERATIONS[(index >> 1) % 2] ?? "legacy", "list_links", { limit: 1 + (index % 50) }, `call ${index}`);
      return { key, index, response: await post(stack.gateways[(index >> 2) % 2]?.url ?? "", key, message) };
    }),
  );
  for (const { key, index, response } of responses) {
    expect(response.body.id).toBe(`call ${index}`);
    const { page } = pageOf(response);
    expect(page.count).toBe(1 + (index % 50));
    for (const { id } of page.data) expect(own[key]).toContain(id);
  }
});

describe.each([
  ["below Plus", "plan_required", (id: string) => stack.accounts.setBrandTier({ brand_id: id, tier: "starter" }, callContext())],
  ["unverified", "brand_not_verified", (id: string) => stack.accounts.setBrandVerified({ brand_id: id, verified: false }, callContext())],
])("a brand %s", (_, code, demote) => {
  it("connects and lists tools, but has every call refused in its result, immediately and on both gateways", async () => {
    const demoted = await stack.createBrand();
    for (const gateway of [0, 1]) pageOf(await call("legacy", "list_links", {}, demoted.key, gateway));
    await demote(demoted.id);
    for (const gateway of [0, 1]) {
      const send = (message: Parameters<typeof post>[2]) => post(stack.gateways[gateway]?.url ?? "", demoted.key, message);
      expect((await send(request("legacy", "initialize", { protocolVersion: "2025-11-25" }))).body.result.serverInfo.name).toBe(
        "brand-records",
      );
      expect((await send(request("stateless", "server/discover"))).status).toBe(200);
      for (const generation of GENERATIONS) {
        const list = await send(request(generation, "tools/list"));
        expect(list.body.result.tools).toHaveLength(RESOURCE_NAMES.length);
        expect(list.headers.get("ratelimit-policy")).toBe('"brand";q=60;w=60');
        expect(refusalOf(await send(toolCall(generation, "list_links")))).toMatchObject({ code });
      }
      expect((await stack.get("/api/v1/links", demoted.key, gateway)).status).toBe(403);
    }
  });
});

it("refuses a revoked key with the next message, on every gateway", async () => {
  const revoked = await stack.createBrand();
  for (const gateway of [0, 1]) pageOf(await call("stateless", "list_links", {}, revoked.key, gateway));
  await stack.accounts.revokeKey({ key_id: revoked.keyId, revoked_by: revoked.owner }, callContext());
  for (const gateway of [0, 1]) {
    const response = await call("stateless", "list_links", {}, revoked.key, gateway);
    expect(response).toMatchObject({ status: 401, body: { id: null, error: { code: -32001, data: { code: "invalid_key" } } } });
  }
});

describe("the shared rate limit", () => {
  it("admits 60 of 100 requests over HTTP and tools, two gateways and both generations", async () => {
    const plus = await stack.createBrand();
    const statuses = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const gateway = (index >> 1) % 2;
        if (index % 2 === 0) return (await stack.get("/api/v1/links", plus.key, gateway)).status;
        return (await call(GENERATIONS[(index >> 2) % 2] ?? "legacy", "list_links", {}, plus.key, gateway)).status;
      }),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40);
  });

  it("counts notifications, pings, refusals and invalid messages, and responds 429 -32003 with Retry-After to all beyond it", async () => {
    const plus = await stack.createBrand();
    const counted = [
      { body: { jsonrpc: "2.0", method: "notifications/initialized" } },
      request("legacy", "ping"),
      toolCall("legacy", "list_links", { limit: 0 }),
      { body: "{" },
      { body: [] },
      request("stateless", "nothing"),
    ];
    for (let round = 0; round < 10; round += 1) {
      for (const message of counted) expect((await post(stack.url, plus.key, message)).status).not.toBe(429);
    }
    expect(await redis.llen(windowKey(plus.id))).toBe(60);
    for (const message of counted) {
      const response = await post(stack.url, plus.key, message);
      expect(response).toMatchObject({
        status: 429,
        body: {
          jsonrpc: "2.0",
          id: null,
          error: {
            code: -32003,
            message: expect.stringMatching(/Wait \d+ s/),
            data: { code: "rate_limited", retry_after_seconds: expect.any(Number) },
          },
        },
      });
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(response.headers.get("ratelimit")).toMatch(/^"brand";r=0;t=\d+$/);
    }
  });
});

it("logs and counts the method, generation, tool and error of every message, but no name that a client made up", async () => {
  const marker = "marker7f3a";
  await call("stateless", "list_payouts", { limit: 0, [marker]: marker });
  await post(stack.url, brand.key, request("legacy", marker));
  await post(stack.url, brand.key, toolCall("legacy", marker));
  const { process } = stack.gateways[0];
  const line = { tool: "list_payouts", error: "invalid_parameter", rpc_method: "tools/call", rpc_generation: "stateless", status: 200 };
  const logged = { ...line, route: "/api/mcp", brand_id: brand.id };
  await eventually(() => expect(logOf(process)).toContainEqual(expect.objectContaining(logged)));
  const metrics = await metricsOf(process);
  expect(metrics).toMatch(
    /^mcp_messages_total\{method="tools\/call",generation="stateless",tool="list_payouts",error="invalid_parameter",service="gateway"\} \d+$/m,
  );
  expect(metrics).toMatch(
    /^mcp_messages_total\{method="other",generation="legacy",tool="none",error="not_found",service="gateway"\} \d+$/m,
  );
  expect(metrics).not.toContain(marker);
  expect(process.output()).not.toContain(marker);
});

describe("the size of a page for a model, at 4 characters a token", () => {
  // Campaigns and submissions have the most fields. The description of `limit` relies on these figures.
  it.each([
    ["campaigns", 28_000],
    ["submissions", 26_000],
    ["payouts", 25_000],
    ["deposits", 25_000],
    ["conversions", 25_000],
    ["links", 25_000],
  ] as const)("of 200 %s is under %i tokens", async (resource, tokens) => {
    const { text, page } = pageOf(await call("legacy", `list_${resource}`, { limit: 200 }));
    expect(page.count).toBe(200);
    expect(text.length / 4).toBeLessThan(tokens);
  });
});
