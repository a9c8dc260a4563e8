import { randomUUID } from "node:crypto";
import { openPool, type Database } from "@brand-records/postgres";
import { eventually, startRedisServer, startTcpProxy, type RedisServer, type TcpProxy } from "@brand-records/testkit";
import { metricsOf } from "../admin-port.ts";
import { GENERATIONS, post, refusalOf, request, toolCall } from "../mcp.ts";
import { planInput, postPlan } from "../plan-input.ts";
import { callContext, startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: a request_id makes one plan, however often and wherever it is sent, and no response, log or metric contains its notes. */

let redisServer: RedisServer;
let proxy: TcpProxy;
let stack: Stack;
let db: Database;

beforeAll(async () => {
  redisServer = await startRedisServer();
  stack = await startStack({
    gateways: 2,
    redisUrl: redisServer.url,
    env: { RATE_LIMIT_PLUS: "100000", REQUEST_DEADLINE_MS: "30000" },
    through: {
      plans: async (port) => {
        proxy = await startTcpProxy({ host: "127.0.0.1", port });
        return proxy.port;
      },
    },
  });
  db = openPool({ url: stack.databaseUrl, max: 2, applicationName: "test" });
});
afterAll(async () => {
  await db.stop();
  await stack.stop();
  await proxy.stop();
  await redisServer.stop();
});

const DAY_MS = 24 * 60 * 60 * 1_000;
const manilaDay = (now: number): string => new Intl.DateTimeFormat("sv", { timeZone: "Asia/Manila" }).format(now);

const planner = () => stack.createBrand({ permissions: ["campaigns:prepare"] });

/** A second key of the brand that may prepare plans. */
const secondKey = async (brand: TestBrand): Promise<string> =>
  (await stack.createKey(brand, { permissions: ["campaigns:prepare"] })).secret;

interface Prepared {
  readonly status: number;
  readonly replayed: string | null;
  readonly text: string;
  readonly body: Record<string, unknown> & { error?: { code: string; field?: string; details?: { field: string }[] } };
}

async function prepare(key: string, body: object | string, gateway = 0): Promise<Prepared> {
  const response = await postPlan(stack.gateways[gateway]?.url ?? "", key, body);
  const text = await response.text();
  return {
    status: response.status,
    replayed: response.headers.get("idempotent-replayed"),
    text,
    body: JSON.parse(text) as Prepared["body"],
  };
}

const callTool = (key: string, body: object, gateway = 0, generation: (typeof GENERATIONS)[number] = "stateless") =>
  post(stack.gateways[gateway]?.url ?? "", key, toolCall(generation, "prepare_campaign_plan", body));

async function prepareByTool(key: string, body: object, gateway = 0): Promise<string> {
  const { body: message, status } = await callTool(key, body, gateway);
  expect({ status, isError: message.result.isError }).toEqual({ status: 200, isError: false });
  expect(JSON.stringify(message.result.structuredContent)).toBe(message.result.content[0]?.text);
  return message.result.content[0]?.text ?? "";
}

async function countOf(brand: TestBrand, status?: string): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    "select count(*) from plans.plans where brand_id = $1 and ($2::text is null or status = $2)",
    [brand.id, status ?? null],
  );
  return row?.count ?? 0;
}

it("returns a pending plan without its private fields, and stores all fields", async () => {
  const brand = await planner();
  const given = planInput({
    notes: "For the team only",
    brief: "In the rain",
    requirements: ["Vertical"],
    platforms: ["tiktok"],
    summary: "Clips",
  });
  const { status, replayed, body } = await prepare(brand.key, given);
  expect({ status, replayed }).toEqual({ status: 201, replayed: null });
  expect(body).toEqual({
    plan_id: expect.stringMatching(/^pln_[0-9a-z]{26}$/),
    request_id: given.request_id,
    status: "pending",
    campaign_type: "blitz",
    title: given.title,
    planned_for: "2099-12-01",
    review_on: "2099-12-15",
    planning_budget: 75_000.5,
    review_path: `/workspaces/blitz/plans/${String(body["plan_id"])}`,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    warnings: [],
  });
  const [stored] = await db.query("select brief, requirements, platforms, summary, notes, status from plans.plans where id = $1", [
    body["plan_id"],
  ]);
  expect(stored).toEqual({
    brief: "In the rain",
    requirements: ["Vertical"],
    platforms: ["tiktok"],
    summary: "Clips",
    notes: "For the team only",
    status: "pending",
  });
});

it("warns of a planned day before today in Manila, and of a review before it, over HTTP and by tool, each time", async () => {
  const brand = await planner();
  const tomorrow = manilaDay(Date.now() + DAY_MS);
  const yesterday = manilaDay(Date.now() - DAY_MS);
  for (const [planned_for, review_on, ...warnings] of [
    [tomorrow, tomorrow],
    [yesterday, yesterday, `planned_for, ${yesterday}, is before today`],
    ["2099-12-01", "2099-11-30", "review_on, 2099-11-30, is before planned_for, 2099-12-01."],
    ["2020-02-29", "2020-02-28", "planned_for, 2020-02-29, is before today", "review_on, 2020-02-28, is before planned_for"],
  ] as const) {
    const given = planInput({ planned_for, review_on });
    const { status, text, body } = await prepare(brand.key, given);
    expect({ status, warnings: body["warnings"] }).toEqual({
      status: 201,
      warnings: warnings.map((warning) => expect.stringContaining(warning)),
    });
    expect(await prepareByTool(brand.key, given)).toBe(text);
    expect(await prepare(brand.key, given)).toMatchObject({ status: 200, replayed: "true", text });
  }
});

describe("100 simultaneous requests", () => {
  it("that are equal, over HTTP, with two keys at two gateways: one plan, one 201, equal responses", async () => {
    const brand = await planner();
    const keys = [brand.key, await secondKey(brand)];
    const given = planInput();
    const responses = await Promise.all(Array.from({ length: 100 }, (_, index) => prepare(keys[index % 2] ?? "", given, (index >> 1) % 2)));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(responses.filter(({ status, replayed }) => status === 200 && replayed === "true")).toHaveLength(99);
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(await countOf(brand)).toBe(1);
  });

  it("that are equal, over HTTP and by tool: one plan, equal responses", async () => {
    const brand = await planner();
    const keys = [brand.key, await secondKey(brand)];
    const given = planInput();
    const texts = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const [key = "", gateway] = [keys[(index >> 1) % 2], (index >> 2) % 2];
        return index % 2 === 0 ? (await prepare(key, given, gateway)).text : prepareByTool(key, given, gateway);
      }),
    );
    expect(new Set(texts).size).toBe(1);
    expect(await countOf(brand)).toBe(1);
  });

  it("that differ, at 190 pending plans: exactly 10 are made, and a repeat still returns its plan", async () => {
    const brand = await planner();
    const keys = [brand.key, await secondKey(brand)];
    const first = planInput();
    await Promise.all([prepare(brand.key, first), ...Array.from({ length: 189 }, () => prepare(brand.key, planInput()))]);
    expect(await countOf(brand, "pending")).toBe(190);
    const codes = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const [key = "", gateway] = [keys[(index >> 1) % 2], (index >> 2) % 2];
        if (index % 2 === 0) {
          const { status, body } = await prepare(key, planInput(), gateway);
          return status === 201 ? "made" : `${status} ${body.error?.code}`;
        }
        const response = await callTool(key, planInput(), gateway);
        return response.body.result.isError ? `409 ${refusalOf(response).code}` : "made";
      }),
    );
    expect(codes.filter((code) => code === "made")).toHaveLength(10);
    expect(codes.filter((code) => code === "409 pending_plan_limit")).toHaveLength(90);
    expect(await countOf(brand, "pending")).toBe(200);
    expect(await prepare(brand.key, first)).toMatchObject({ status: 200, replayed: "true" });
    expect(await prepareByTool(brand.key, first)).toContain(first.request_id);
  });
});

describe("a repeated request", () => {
  const full = () => planInput({ summary: "s", brief: "b", requirements: ["r1", "r2"], platforms: ["tiktok"], notes: "n" });

  it.each([
    ["title", "Another"],
    ["goal", "Another"],
    ["campaign_type", "ugc"],
    ["planned_for", "2099-12-02"],
    ["review_on", "2099-12-16"],
    ["planning_budget", 75_000.51],
    ["summary", "another"],
    ["brief", "another"],
    ["requirements", ["r2", "r1"]],
    ["platforms", ["tiktok", "tiktok"]],
    ["notes", "another"],
    ["notes", null],
    ["title", "Tag-ulan skincare clips "],
  ])("with another %s (%j): request_conflict that names it, over HTTP and by tool", async (field, value) => {
    const brand = await planner();
    const given = full();
    await prepare(brand.key, given);
    const { status, body, text } = await prepare(brand.key, { ...given, [field]: value });
    expect({ status, body }).toMatchObject({
      status: 409,
      body: { error: { code: "request_conflict", field: "request_id", details: [{ field }] } },
    });
    expect(text).not.toContain('"n"');
    expect(refusalOf(await callTool(brand.key, { ...given, [field]: value }))).toMatchObject({
      code: "request_conflict",
      details: [{ field }],
    });
    expect(await countOf(brand)).toBe(1);
  });

  it('in another order, with white space, null, "" or an upper-case request_id returns the same plan', async () => {
    const brand = await planner();
    const given = planInput({ requirements: ["r1"] });
    const { text } = await prepare(brand.key, given);
    const same = [
      JSON.stringify(Object.fromEntries(Object.entries(given).toReversed())),
      JSON.stringify(given, null, 4),
      JSON.stringify({ ...given, notes: null, summary: "", brief: null, platforms: "" }),
      JSON.stringify({ ...given, request_id: given.request_id.toUpperCase() }),
      JSON.stringify(given).replace("75000.5", "7.50005e4"),
    ];
    for (const body of same) expect(await prepare(brand.key, body)).toMatchObject({ status: 200, replayed: "true", text });
    expect(await prepareByTool(brand.key, { ...given, notes: null, platforms: "" })).toBe(text);
  });

  it("with a new key, after the first was revoked, returns the same plan", async () => {
    const brand = await planner();
    const given = planInput();
    const { text } = await prepare(brand.key, given);
    const key = await secondKey(brand);
    await stack.accounts.revokeKey({ key_id: brand.keyId, revoked_by: brand.owner }, callContext());
    expect((await prepare(brand.key, given)).status).toBe(401);
    expect(await prepare(key, given)).toMatchObject({ status: 200, text });
  });

  it("over HTTP and then by tool returns the same plan, and the other way round", async () => {
    const brand = await planner();
    const [first, second] = [planInput(), planInput()];
    const { text } = await prepare(brand.key, first);
    expect(await prepareByTool(brand.key, first)).toBe(text);
    const made = await prepareByTool(brand.key, second);
    expect(await prepare(brand.key, second)).toMatchObject({ status: 200, text: made });
  });

  it("of a cancelled plan: request_conflict; of a completed plan: the completed plan", async () => {
    const brand = await planner();
    const close = { brand_id: brand.id, member: brand.owner, expected_revision: 1 };
    const confirmed = { confirmed_pay: true, confirmed_rights: true, confirmed_funding: true };
    const [cancelled, completed] = [planInput(), planInput()];
    const ids = [cancelled, completed].map(async (given) => String((await prepare(brand.key, given)).body["plan_id"]));
    await stack.plans.cancelPlan({ ...close, plan_id: (await ids[0]) ?? "" }, callContext());
    await stack.plans.completePlan({ ...close, ...confirmed, plan_id: (await ids[1]) ?? "" }, callContext());
    expect(await prepare(brand.key, cancelled)).toMatchObject({ status: 409, body: { error: { code: "request_conflict" } } });
    expect(refusalOf(await callTool(brand.key, cancelled))).toMatchObject({ code: "request_conflict" });
    expect(await prepare(brand.key, completed)).toMatchObject({ status: 200, replayed: "true", body: { status: "completed" } });
  });

  it("with another brand's key makes a plan of that brand, and leaves the first unchanged", async () => {
    const [brand, other] = await Promise.all([planner(), planner()]);
    const given = planInput();
    const ours = await prepare(brand.key, given);
    const theirs = await prepare(other.key, { ...given, title: "Theirs" });
    expect(theirs.status).toBe(201);
    expect(theirs.body["plan_id"]).not.toBe(ours.body["plan_id"]);
    expect(await prepare(brand.key, given)).toMatchObject({ status: 200, text: ours.text });
    const reading = stack.plans.getPlan({ brand_id: other.id, plan_id: String(ours.body["plan_id"]) }, callContext());
    await expect(reading).rejects.toMatchObject({ kind: "not_found" });
  });
});

it("a retry returns the plan whose response was lost when the service was killed", async () => {
  const brand = await planner();
  const given = planInput();
  proxy.delay(6_000);
  const lost = prepare(brand.key, given);
  await eventually(async () => expect(await countOf(brand)).toBe(1));
  // The proxy delays the response by six seconds.
  await Promise.all([stack.processes.plans.kill("SIGKILL"), proxy.cut()]);
  await proxy.heal();
  await stack.restart("plans");
  expect([200, 503]).toContain((await lost).status);
  const retried = await eventually(async () => {
    const response = await prepare(brand.key, given);
    expect(response.status).toBe(200);
    return response;
  });
  expect(retried).toMatchObject({ replayed: "true", body: { request_id: given.request_id } });
  expect(await countOf(brand)).toBe(1);
});

describe("permission", () => {
  it("is refused to a reporting key: 403 over HTTP before the body is parsed, an error by tool, and the tool is not listed", async () => {
    const brand = await stack.createBrand();
    expect(await prepare(brand.key, "{")).toMatchObject({ status: 403, body: { error: { code: "permission_required" } } });
    for (const generation of GENERATIONS) {
      expect(refusalOf(await callTool(brand.key, planInput(), 0, generation))).toMatchObject({ code: "permission_required" });
      const { body } = await post(stack.url, brand.key, request(generation, "tools/list"));
      expect(body.result.tools.map(({ name }) => name)).not.toContain("prepare_campaign_plan");
    }
  });

  it("is granted to a key with campaigns:prepare, which lists the tool", async () => {
    const brand = await planner();
    for (const generation of GENERATIONS) {
      const { body } = await post(stack.url, brand.key, request(generation, "tools/list"));
      expect(body.result.tools.map(({ name }) => name).at(-1)).toBe("prepare_campaign_plan");
    }
    expect((await prepare(brand.key, planInput())).status).toBe(201);
  });

  it("is refused immediately to a brand that falls below Plus", async () => {
    const brand = await planner();
    expect((await prepare(brand.key, planInput())).status).toBe(201);
    await stack.accounts.setBrandTier({ brand_id: brand.id, tier: "starter" }, callContext());
    expect(await prepare(brand.key, planInput())).toMatchObject({ status: 403, body: { error: { code: "plan_required" } } });
    expect(refusalOf(await callTool(brand.key, planInput()))).toMatchObject({ code: "plan_required" });
  });

  it("is refused without a key (401), to other methods (405) and with query parameters (400)", async () => {
    expect((await prepare("none", planInput())).status).toBe(401);
    const { key } = await planner();
    for (const method of ["GET", "HEAD", "PUT", "DELETE"]) {
      const response = await fetch(`${stack.url}/api/v1/campaign-plans`, { method, headers: { authorization: `Bearer ${key}` } });
      expect({ status: response.status, allow: response.headers.get("allow") }).toEqual({ status: 405, allow: "POST" });
    }
    const response = await fetch(`${stack.url}/api/v1/campaign-plans?brand_id=brd_other`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(planInput()),
    });
    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_parameter" } },
    });
  });
});

describe("wrong input", () => {
  const wrong: [string, Record<string, unknown>, string][] = [
    ["30 February", { planned_for: "2026-02-30" }, "planned_for"],
    ["a date without zeros", { review_on: "2026-2-3" }, "review_on"],
    ["a timestamp", { planned_for: "2026-12-01T00:00:00Z" }, "planned_for"],
    ["budget 0", { planning_budget: 0 }, "planning_budget"],
    ["budget -1", { planning_budget: -1 }, "planning_budget"],
    ["a tenth of a centavo", { planning_budget: 0.001 }, "planning_budget"],
    ["a centavo too much", { planning_budget: 1_000_000_000.01 }, "planning_budget"],
    ["a budget that is no JSON number", { planning_budget: "5,000" }, "planning_budget"],
    ["an invalid request_id", { request_id: "1" }, "request_id"],
    ["the nil UUID", { request_id: "00000000-0000-0000-0000-000000000000" }, "request_id"],
    ["an unknown type", { campaign_type: "video" }, "campaign_type"],
    ["a title that is too long", { title: "x".repeat(201) }, "title"],
    ["NUL", { goal: "a\u0000b" }, "goal"],
    ["a lone surrogate", { brief: "\ud800" }, "brief"],
    ["requirements that are no list", { requirements: "x" }, "requirements"],
    ["a platform that is too long", { platforms: ["tiktok", "x".repeat(65)] }, "platforms[1]"],
    ["an unknown field", { budget: 5 }, "budget"],
    ["another brand", { brand_id: "brd_other" }, "brand_id"],
  ];
  it.each(wrong)("%s: invalid_request that names the field, over HTTP and by tool, and no plan", async (_, changes, field) => {
    const brand = await planner();
    expect(await prepare(brand.key, planInput(changes))).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_request", field, details: [{ field }] } },
    });
    expect(refusalOf(await callTool(brand.key, planInput(changes)))).toMatchObject({
      code: "invalid_request",
      field,
      details: [{ field }],
    });
    expect(await countOf(brand)).toBe(0);
  });

  it("is reported completely", async () => {
    const { key } = await planner();
    const { body } = await prepare(key, { title: "", planned_for: "soon", planning_budget: "5", notes: 5, extra: true });
    expect(body.error?.details?.map(({ field }) => field).toSorted()).toEqual(
      ["campaign_type", "extra", "goal", "notes", "planned_for", "planning_budget", "request_id", "review_on", "title"].toSorted(),
    );
  });
});

it("a budget and lists as JSON text are refused over HTTP, and read by the tool", async () => {
  const brand = await planner();
  const given = planInput({ requirements: ["Vertical"], platforms: ["tiktok", "instagram"] });
  const asText = { ...given, planning_budget: "75000.5", requirements: '["Vertical"]', platforms: '["tiktok","instagram"]' };
  const { status, body } = await prepare(brand.key, asText);
  expect({ status, fields: new Set(body.error?.details?.map(({ field }) => field)) }).toEqual({
    status: 400,
    fields: new Set(["planning_budget", "requirements", "platforms"]),
  });
  const made = await prepareByTool(brand.key, asText);
  expect(await prepare(brand.key, given)).toMatchObject({ status: 200, text: made });
});

it("no response, log line or metric contains notes, not even after a failure", async () => {
  const marker = `marker${randomUUID()}`;
  const brand = await planner();
  const given = planInput({ notes: marker });
  const seen: string[] = [];
  const send = async (body: object | string) =>
    seen.push((await prepare(brand.key, body)).text, (await callTool(brand.key, body as object)).text);
  await send(given);
  await send({ ...given, title: "Another" });
  await send({ ...given, notes: `${marker} changed` });
  await send(planInput({ notes: marker.padEnd(5_001, "x") }));
  await send(planInput({ notes: [marker] }));
  await send(planInput({ notes: `${marker}\u0000` }));
  seen.push((await prepare(brand.key, `{"notes":"${marker}`)).text);
  // The error from Postgres contains the failing row.
  await db.query("alter table plans.plans add constraint refuse_some check (title <> 'Refused')");
  const failed = await prepare(brand.key, planInput({ title: "Refused", notes: marker }));
  await db.query("alter table plans.plans drop constraint refuse_some");
  expect(failed).toMatchObject({ status: 500, body: { error: { code: "internal_error" } } });
  seen.push(failed.text);

  const [plan] = await db.query<{ id: string; notes: string }>(
    "select id, notes from plans.plans where brand_id = $1 and notes is not null",
    [brand.id],
  );
  expect(plan?.notes).toBe(marker);
  const close = { brand_id: brand.id, plan_id: plan?.id ?? "", member: brand.owner, expected_revision: 1 };
  seen.push(
    JSON.stringify(await stack.plans.getPlan(close, callContext())),
    JSON.stringify(await stack.plans.listPlans({ brand_id: brand.id, status: null, page_size: 0, after_id: null }, callContext())),
    JSON.stringify((await stack.plans.cancelPlan(close, callContext())).plan),
  );
  for (const process of [...stack.gateways.map((gateway) => gateway.process), stack.processes.plans]) seen.push(await metricsOf(process));
  // Logs are written in batches.
  await eventually(() => expect(stack.processes.plans.output()).toContain("refuse_some"));
  for (const process of [...stack.gateways.map((gateway) => gateway.process), ...Object.values(stack.processes)])
    seen.push(process.output());
  for (const text of seen) expect(text).not.toContain(marker);
});
