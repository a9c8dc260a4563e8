import { windowKey } from "@brand-records/redis";
import { RESOURCE_NAMES } from "@brand-records/resources";
import { eventually, startRedisServer, type RedisServer } from "@brand-records/testkit";
import { Redis } from "ioredis";
import { seedBrand } from "../seed-brand.ts";
import { GENERATIONS, post, refusalOf, request, toolCall, type McpAnswer } from "../mcp.ts";
import { callContext, startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: a tool reads what the HTTP API reads: the same pages, of the same brand, within the same limit. */

let redisServer: RedisServer;
let redis: Redis;
let stack: Stack;
let brand: TestBrand;
let other: TestBrand;

beforeAll(async () => {
  redisServer = await startRedisServer();
  redis = new Redis(redisServer.url);
  stack = await startStack({ gateways: 2, redisUrl: redisServer.url, env: { RATE_LIMIT_ENTERPRISE: "100000" } });
  [brand, other] = await Promise.all([stack.createBrand({ tier: "enterprise" }), stack.createBrand({ tier: "enterprise" })]);
  const sizes = { campaigns: 240, submissions: 250, payouts: 230, deposits: 220, conversions: 210, links: 260 };
  await seedBrand(stack, brand.id, sizes);
  await seedBrand(stack, other.id, { ...sizes, links: 60 });
}, 60_000);
afterAll(async () => {
  await stack.stop();
  redis.disconnect();
  await redisServer.stop();
});

const call = (generation: (typeof GENERATIONS)[number], name: string, args?: unknown, key = brand.key, gateway = 0) =>
  post(stack.gateways[gateway]?.url ?? "", key, toolCall(generation, name, args));

const pageOf = (answer: McpAnswer) => {
  const { content, structuredContent, isError } = answer.body.result;
  expect({ status: answer.status, isError, content }).toEqual({
    status: 200,
    isError: false,
    content: [{ type: "text", text: expect.any(String) }],
  });
  return { text: content[0]?.text ?? "", page: structuredContent };
};

describe.each(GENERATIONS)("%s", (generation) => {
  it.each(RESOURCE_NAMES)("list_%s answers byte for byte the page of HTTP, as text and as structured content", async (resource) => {
    for (const [args, query] of [
      [undefined, ""],
      [{}, ""],
      [{ limit: 7 }, "?limit=7"],
      [{ limit: "25" }, "?limit=25"],
      [{ limit: 200 }, "?limit=200"],
      [{ limit: 3, since: "2026-06-01T00:00:00+08:00" }, "?limit=3&since=2026-06-01T00:00:00%2B08:00"],
      [{ limit: null, cursor: "", since: null }, ""],
    ] as const) {
      const http = await stack.get(`/api/v1/${resource}${query}`, brand.key);
      const expected = await http.text();
      const answer = await call(generation, `list_${resource}`, args);
      const { text, page } = pageOf(answer);
      expect(text).toBe(expected);
      expect(page).toEqual(JSON.parse(expected));
      expect(answer.text).toContain(`"structuredContent":${expected}`);
      expect(answer.headers.get("cache-control")).toBe("private, no-store");
      expect(answer.headers.get("ratelimit-policy")).toBe('"brand";q=100000;w=60');
    }
  });

  it("pages through a resource by next_cursor, every record once, as HTTP does", async () => {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const { page } = pageOf(await call(generation, "list_submissions", { limit: 60, ...(cursor !== undefined && { cursor }) }));
      ids.push(...page.data.map(({ id }: { id: string }) => id));
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(ids).toHaveLength(250);
    expect(new Set(ids).size).toBe(250);
  });

  it("a cursor goes from one interface to the other", async () => {
    const http = (await (await stack.get("/api/v1/links?limit=5", brand.key)).json()) as { next_cursor: string };
    const { page } = pageOf(await call(generation, "list_links", { limit: 5, cursor: http.next_cursor }));
    const next = (await (await stack.get(`/api/v1/links?limit=5&cursor=${page.next_cursor}`, brand.key)).json()) as { count: number };
    expect(next.count).toBe(5);
  });

  const wrongArguments: [string, object, string, string][] = [
    ["limit 0", { limit: 0 }, "invalid_parameter", "limit"],
    ["limit 201", { limit: 201 }, "invalid_parameter", "limit"],
    ["limit -1", { limit: -1 }, "invalid_parameter", "limit"],
    ["limit 2.5", { limit: 2.5 }, "invalid_parameter", "limit"],
    ["limit 1e21", { limit: 1e21 }, "invalid_parameter", "limit"],
    ["limit as text with a sign", { limit: "+5" }, "invalid_parameter", "limit"],
    ["limit true", { limit: true }, "invalid_parameter", "limit"],
    ["limit as a list", { limit: [5] }, "invalid_parameter", "limit"],
    ["a cursor that is none", { cursor: "nonsense" }, "invalid_cursor", ""],
    ["a cursor that is a number", { cursor: 5 }, "invalid_parameter", "cursor"],
    ["a date without a time", { since: "2026-11-21" }, "invalid_parameter", "since"],
    ["a time without an offset", { since: "2026-11-21T00:00:00" }, "invalid_parameter", "since"],
    ["since as a number", { since: 1763683200 }, "invalid_parameter", "since"],
    ["another brand", { brand_id: "brd_other" }, "invalid_parameter", "brand_id"],
    ["a filter that does not exist", { status: "pending" }, "invalid_parameter", "status"],
    ["another brand left empty", { brand_id: "" }, "invalid_parameter", "brand_id"],
    ["an argument in another case", { Limit: 5 }, "invalid_parameter", "Limit"],
  ];
  it.each(wrongArguments)("%s: a result with isError that says what to mend", async (_, args, code, field) => {
    const answer = await call(generation, "list_links", args);
    expect(refusalOf(answer)).toMatchObject({ code, message: expect.stringMatching(/^\S.{10,}$/s), ...(field !== "" && { field }) });
    expect(refusalOf(answer)).toHaveProperty("request_id", answer.headers.get("x-request-id"));
  });

  it("several wrong arguments are told at once", async () => {
    const refusal = refusalOf(await call(generation, "list_links", { limit: 0, cursor: 5, brand_id: "x" }));
    expect(refusal.details?.map(({ field }) => field)).toEqual(["brand_id", "limit", "cursor"]);
  });

  it("a cursor of another resource is refused", async () => {
    const { page } = pageOf(await call(generation, "list_links", { limit: 1 }));
    expect(refusalOf(await call(generation, "list_payouts", { cursor: page.next_cursor }))).toMatchObject({ code: "invalid_cursor" });
  });

  it("another brand's cursor reads one's own records only", async () => {
    const { page } = pageOf(await call(generation, "list_links", { limit: 5 }, other.key));
    const mine = pageOf(await call(generation, "list_links", { limit: 200, cursor: page.next_cursor }));
    const own = await everyId(brand.key);
    for (const { id } of mine.page.data) expect(own).toContain(id);
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

it("never mixes the answers of two keys under 200 concurrent calls", async () => {
  const own = { [brand.key]: new Set(await everyId(brand.key)), [other.key]: new Set(await everyId(other.key)) };
  const keys = [brand.key, other.key];
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const key = keys[index % 2] ?? "";
      const message = toolCall(GENERATIONS[(index >> 1) % 2] ?? "legacy", "list_links", { limit: 1 + (index % 50) }, `call ${index}`);
      return { key, index, answer: await post(stack.gateways[(index >> 2) % 2]?.url ?? "", key, message) };
    }),
  );
  for (const { key, index, answer } of answers) {
    expect(answer.body.id).toBe(`call ${index}`);
    const { page } = pageOf(answer);
    expect(page.count).toBe(1 + (index % 50));
    for (const { id } of page.data) expect(own[key]).toContain(id);
  }
});

describe.each([
  ["below Plus", "plan_required", (id: string) => stack.accounts.setBrandTier({ brand_id: id, tier: "starter" }, callContext())],
  ["unverified", "brand_not_verified", (id: string) => stack.accounts.setBrandVerified({ brand_id: id, verified: false }, callContext())],
])("a brand %s", (_, code, fall) => {
  it("opens a connection and lists tools; every call is refused within its result, at once and on both gateways", async () => {
    const fallen = await stack.createBrand();
    for (const gateway of [0, 1]) pageOf(await call("legacy", "list_links", {}, fallen.key, gateway));
    await fall(fallen.id);
    for (const gateway of [0, 1]) {
      const send = (message: Parameters<typeof post>[2]) => post(stack.gateways[gateway]?.url ?? "", fallen.key, message);
      expect((await send(request("legacy", "initialize", { protocolVersion: "2025-11-25" }))).body.result.serverInfo.name).toBe(
        "brand-records",
      );
      expect((await send(request("stateless", "server/discover"))).status).toBe(200);
      for (const generation of GENERATIONS) {
        const list = await send(request(generation, "tools/list"));
        expect(list.body.result.tools).toHaveLength(6);
        expect(list.headers.get("ratelimit-policy")).toBe('"brand";q=60;w=60');
        expect(refusalOf(await send(toolCall(generation, "list_links")))).toMatchObject({ code });
      }
      expect((await stack.get("/api/v1/links", fallen.key, gateway)).status).toBe(403);
    }
  });
});

it("a revoked key is refused with the next message, on every gateway", async () => {
  const revoked = await stack.createBrand();
  for (const gateway of [0, 1]) pageOf(await call("stateless", "list_links", {}, revoked.key, gateway));
  await stack.accounts.revokeKey({ key_id: revoked.keyId, revoked_by: revoked.owner }, callContext());
  for (const gateway of [0, 1]) {
    const answer = await call("stateless", "list_links", {}, revoked.key, gateway);
    expect(answer).toMatchObject({ status: 401, body: { id: null, error: { code: -32001, data: { code: "invalid_key" } } } });
  }
});

describe("the shared window", () => {
  it("admits 60 of 100 over HTTP and assistants, two processes and both generations", async () => {
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

  it("counts notifications, pings, refusals and what is no message; beyond it every message is 429 -32003 with Retry-After", async () => {
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
      const answer = await post(stack.url, plus.key, message);
      expect(answer).toMatchObject({
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
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(answer.headers.get("ratelimit")).toMatch(/^"brand";r=0;t=\d+$/);
    }
  });
});

it("the log and the metrics tell method, generation, tool and refusal of every message, and nothing that a client made up", async () => {
  const marker = "marker7f3a";
  await call("stateless", "list_payouts", { limit: 0, [marker]: marker });
  await post(stack.url, brand.key, request("legacy", marker));
  await post(stack.url, brand.key, toolCall("legacy", marker));
  const { process, adminUrl } = stack.gateways[0];
  const line = await eventually(() => {
    const found = process
      .output()
      .split("\n")
      .find((text) => text.includes('"tool":"list_payouts"') && text.includes('"error":"invalid_parameter"'));
    if (found === undefined) throw new Error("not logged yet");
    return JSON.parse(found) as object;
  });
  expect(line).toMatchObject({ route: "/api/mcp", rpc_method: "tools/call", rpc_generation: "stateless", status: 200, brand_id: brand.id });
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  expect(metrics).toMatch(
    /^mcp_messages_total\{method="tools\/call",generation="stateless",tool="list_payouts",error="invalid_parameter",service="gateway"\} \d+$/m,
  );
  expect(metrics).toMatch(
    /^mcp_messages_total\{method="other",generation="legacy",tool="none",error="not_found",service="gateway"\} \d+$/m,
  );
  expect(metrics).not.toContain(marker);
  expect(process.output()).not.toContain(marker);
});

describe("what an answer costs a model, at 4 characters a token", () => {
  // Campaigns and submissions have the most fields: what limit says to models and people is made to fit.
  it.each([
    ["campaigns", 28_000],
    ["submissions", 26_000],
    ["payouts", 25_000],
    ["deposits", 25_000],
    ["conversions", 25_000],
    ["links", 25_000],
  ] as const)("a page of 200 %s is under %i tokens", async (resource, tokens) => {
    const { text, page } = pageOf(await call("legacy", `list_${resource}`, { limit: 200 }));
    expect(page.count).toBe(200);
    expect(text.length / 4).toBeLessThan(tokens);
  });
});
