import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { openPool, type Database } from "@brand-records/postgres";
import { freePort } from "@brand-records/postgres/embedded";
import { eventually, type ServiceProcess } from "@brand-records/testkit";
import { logOf } from "../admin-port.ts";
import { signIn } from "../console-calls.ts";
import { post, toolCall } from "../mcp.ts";
import { planInput } from "../plan-input.ts";
import { startReceivers, type ReceiverServer } from "../receivers.ts";
import { seedBrand } from "../seed-brand.ts";
import { callContext, startStack, type Stack, type TestBrand } from "../stack.ts";

/**
 * One promise: one id finds a request, and one an event, in the log of every process that it touched. docs/logs.md lists the fields of
 * each line, and no line holds what is secret or personal.
 */

type Line = Record<string, unknown> & { readonly service: string; readonly level: string; readonly msg: string };

/** Text in places that no line may show. */
const MARK = "hunter2";

let stack: Stack;
let db: Database;
let brand: TestBrand;
let consoleUrl: string;
let secret: string;
let server: ReceiverServer;

beforeAll(async () => {
  server = await startReceivers(() => (server.requests.length === 1 ? [500, MARK] : [204]));
  stack = await startStack({ hasConsole: true, env: { RECEIVERS_ON_LOOPBACK: "true", RETRY_DELAYS_SECONDS: "0,0,0" } });
  db = openPool({ url: stack.databaseUrl, applicationName: "platform" });
  brand = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  await seedBrand(stack, brand.id, { campaigns: 5, submissions: 100, payouts: 5, deposits: 5, conversions: 5, links: 5 });
  consoleUrl = stack.gateways[0].console?.url ?? "";
  ({ secret } = await stack.addReceiver(brand, `${server.url}${MARK}?token=${MARK}`, ["submission.approved"], MARK));
});
afterAll(async () => {
  await db.stop();
  await stack.stop();
  server.stop();
});

function processes(): ServiceProcess[] {
  const [gateway] = stack.gateways;
  return [gateway.process, ...(gateway.console === undefined ? [] : [gateway.console.process]), ...Object.values(stack.processes)];
}

const allLines = (): Line[] => processes().flatMap((process) => logOf(process) as Line[]);

/** Waits until each of `services: message` is logged with this id, and returns the lines with it. */
async function linesWith(field: string, value: string, expected: readonly string[]): Promise<Line[]> {
  const lines = () => allLines().filter((line) => line[field] === value);
  await eventually(() => expect(lines().map(({ service, msg }) => `${service}: ${msg}`)).toEqual(expect.arrayContaining(expected)));
  return lines();
}

it("finds a request by its request id and by its trace id in every process that it touched", async () => {
  const [requestId, traceId] = ["order-sync-4711", randomBytes(16).toString("hex")];
  const headers = {
    authorization: `Bearer ${brand.key}`,
    "x-request-id": requestId,
    traceparent: `00-${traceId}-b7ad6b7169203331-01`,
  };
  const response = await fetch(`${stack.url}/api/v1/payouts`, { headers });
  expect([response.status, response.headers.get("x-request-id")]).toEqual([200, requestId]);
  const expected = ["gateway: request served", "accounts: call served", "records: call served"];
  // A process may write more lines after those that are expected.
  await eventually(async () =>
    expect(await linesWith("trace_id", traceId, expected)).toEqual(await linesWith("request_id", requestId, expected)),
  );
});

it("finds a person's call in the console likewise: gateway, console and service", async () => {
  const owner = await signIn(stack, consoleUrl, brand.owner);
  const requestId = "support-case-17";
  expect(
    await owner.send(
      "receivers.list",
      { brand_id: brand.id },
      { "x-request-id": requestId, "sec-fetch-site": "same-origin", "content-type": "application/json" },
    ),
  ).toMatchObject({ status: 200 });
  const expected = ["gateway: request served", "console: request served", "accounts: call served", "webhook: call served"];
  const lines = await linesWith("request_id", requestId, expected);
  expect(new Set(lines.map(({ trace_id }) => trace_id)).size).toBe(1);
});

it("does not take over a request id that holds a key, or that is none", async () => {
  for (const given of [brand.key, secret, "x".repeat(129), `${MARK} ${MARK}`, "ü"]) {
    const response = await fetch(`${stack.url}/api/v1/links`, {
      headers: { authorization: `Bearer ${brand.key}`, "x-request-id": Buffer.from(given).toString("latin1") },
    });
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  }
});

it("finds a change by its trace id at the relay, the intake and every attempt", async () => {
  const traceId = randomBytes(16).toString("hex");
  await db.transaction(async (sql) => {
    await sql.query("select set_config('brand_records.traceparent', $1, true)", [`00-${traceId}-b7ad6b7169203331-00`]);
    await sql.query(
      `update records.submissions set status = 'approved', reviewed_at = now() where brand_id = $1 and id =
        (select id from records.submissions where brand_id = $1 and status = 'pending' order by id limit 1)`,
      [brand.id],
    );
  });
  await eventually(() => expect(server.requests).toHaveLength(2));
  const lines = await linesWith("trace_id", traceId, ["records: event moved to the log", "webhook: event received"]);
  expect(new Set(lines.flatMap(({ event_id }) => event_id ?? [])).size).toBe(1);
  await eventually(() =>
    expect(allLines().filter(({ trace_id, msg }) => trace_id === traceId && msg === "delivery attempted")).toMatchObject([
      { attempt: 1, http_status: 500, next_state: "pending" },
      { attempt: 2, http_status: 204, next_state: "delivered" },
    ]),
  );
});

it("writes all three fields of a trace into a line, or none", () => {
  const [id, span, flags] = [/^[0-9a-f]{32}$/, /^[0-9a-f]{16}$/, /^[0-9a-f]{2}$/].map((form) => expect.stringMatching(form) as string);
  const traced = allLines().filter((line) => "trace_id" in line || "span_id" in line || "trace_flags" in line);
  expect(traced.length).toBeGreaterThan(20);
  for (const line of traced) expect(line).toMatchObject({ trace_id: id, span_id: span, trace_flags: flags });
});

it("holds nothing secret or personal, and no path, query or header that callers make up", async () => {
  const headers = {
    authorization: `Bearer ${brand.key}`,
    "user-agent": MARK,
    cookie: `s=${MARK}`,
    tracestate: `${MARK}=1`,
    traceparent: MARK,
  };
  await fetch(`${stack.url}/api/v1/campaigns?cursor=${MARK}`, { headers });
  await fetch(`${stack.url}/api/v1/${MARK}?${MARK}=${MARK}`, { headers });
  await fetch(`${stack.url}/${MARK}`, { headers });
  await fetch(`${stack.url}/api/v1/campaigns`, { headers: { ...headers, authorization: `Bearer brk_live_${MARK}` } });
  const prepared = await post(stack.url, brand.key, toolCall("legacy", "prepare_campaign_plan", planInput({ goal: MARK, notes: MARK })));
  expect(prepared.body.result.isError).not.toBe(true);
  await post(stack.url, brand.key, toolCall("legacy", "prepare_campaign_plan", planInput({ goal: MARK, [MARK]: MARK })));
  await post(stack.url, brand.key, toolCall("legacy", MARK, { [MARK]: MARK }));
  await post(stack.url, brand.key, { body: { jsonrpc: "2.0", id: MARK, method: MARK, params: { [MARK]: MARK } } });
  await post(stack.url, brand.key, { body: `{"${MARK}` });
  await fetch(`${stack.url}/api/v1/conversions`, { headers: { ...headers, "x-request-id": "the-last-one" } });
  await linesWith("request_id", "the-last-one", ["gateway: request served"]);
  const output = processes()
    .map((process) => process.output())
    .join("\n");
  for (const hidden of [MARK, brand.key, "brk_live_", "whsec_", secret, brand.owner]) expect(output).not.toContain(hidden);
});

interface Documented {
  readonly message: string;
  readonly services: readonly string[];
  readonly level: string;
  readonly fields: ReadonlySet<string>;
  readonly optional: ReadonlySet<string>;
}

/** The table of docs/logs.md: in a cell of fields, `name`? may be absent. */
function documented(): Documented[] {
  const page = readFileSync("docs/logs.md", "utf8");
  const names = (cell: string): string[] => [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);
  return [...page.matchAll(/^\| `([^`|]+)` +\| ([^|]+)\| (debug|info) +\| ([^|]+)\|$/gm)].map(
    ([, message = "", where = "", level = "", cell = ""]) => ({
      message,
      services: where.trim().split(/,? and |, /),
      level,
      fields: new Set(names(cell)),
      optional: new Set([...cell.matchAll(/`(\w+)`\?/g)].map(([, name = ""]) => name)),
    }),
  );
}

it("writes the fields that docs/logs.md lists, with every line", async () => {
  const owner = await signIn(stack, consoleUrl, brand.owner);
  expect(await owner.send("keys.list", { brand_id: "brd_1" })).toMatchObject({ code: "not_found" });
  // Nothing listens there.
  const url = `http://127.0.0.1:${await freePort()}/`;
  const away = await stack.addReceiver(brand, url, ["payout.paid"]);
  const { delivery_id } = await stack.receivers.sendTest({ brand_id: brand.id, receiver_id: away.id, next: false }, callContext());
  await expect(stack.receivers.getReceiver({ brand_id: brand.id, receiver_id: "rcv_1" }, callContext())).rejects.toMatchObject({
    kind: expect.any(String),
  });
  await linesWith("delivery_id", delivery_id, ["webhook: delivery attempted"]);
  await linesWith("msg", "call failed", ["webhook: call failed"]);
  const always = new Set(["level", "time", "service", "msg"]);
  const rows = documented();
  expect(rows.length).toBeGreaterThanOrEqual(8);
  const compareLines = (): void => {
    for (const { message, services, level, fields, optional } of rows) {
      const lines = allLines().filter((line) => line.msg === message && services.includes(line.service) && line.level === level);
      const names = lines.map((line) => Object.keys(line).filter((name) => !always.has(name)));
      expect([message, [...new Set(names.flat())].toSorted()]).toEqual([message, [...fields].toSorted()]);
      const required = [...fields].filter((name) => !optional.has(name));
      for (const present of names) expect(present).toEqual(expect.arrayContaining(required));
    }
  };
  // A line follows its response.
  await eventually(compareLines);
});
