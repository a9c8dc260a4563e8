import { EVENT_TYPES } from "@brand-records/resources";
import { openPool, type Database } from "@brand-records/postgres";
import { eventually, startOtlpReceiver, startProcess, type OtlpReceiver, type ReceivedSpan } from "@brand-records/testkit";
import { newId } from "@brand-records/ids";
import { logOf } from "../admin-port.ts";
import { brandctl } from "../command-line.ts";
import { signIn } from "../console-calls.ts";
import { GENERATIONS, post, toolCall } from "../mcp.ts";
import { planInput } from "../plan-input.ts";
import { startReceivers, type ReceiverServer } from "../receivers.ts";
import { seedBrand } from "../seed-brand.ts";
import { startStack, type Stack, type TestBrand } from "../stack.ts";
import { scriptOf } from "../program-script.ts";

/** One promise: a sampled request or change is one connected trace through all processes, and no span holds what is secret or personal. */

/** Text in places that no span may show. */
const MARK = "hunter2";

let otlp: OtlpReceiver;
let stack: Stack;
let db: Database;
let brand: TestBrand;
let server: ReceiverServer;

beforeAll(async () => {
  server = await startReceivers();
  otlp = await startOtlpReceiver();
  stack = await startStack({
    kafkaBrokers: process.env["TEST_KAFKA_BROKERS"] ?? "",
    redisUrl: process.env["TEST_REDIS_URL"] ?? "",
    hasConsole: true,
    env: { ...otlp.env, OTEL_TRACES_SAMPLER_ARG: "1", RECEIVERS_ON_LOOPBACK: "true" },
  });
  db = openPool({ url: stack.databaseUrl, applicationName: "platform" });
  brand = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  await seedBrand(stack, brand.id, { campaigns: 5, submissions: 200, payouts: 5, deposits: 5, conversions: 5, links: 5 });
});
afterAll(async () => {
  await db.stop();
  await stack.stop();
  await otlp.stop();
  server.stop();
});

const spansOf = (traceId: string | undefined): ReceivedSpan[] => otlp.spans.filter((span) => span.traceId === traceId);

const lineOf = ({ service, name }: ReceivedSpan): string => `${service}: ${name}`;

/** Waits until a trace has these lines, from its root to the last of them. Each process exports its own spans when it likes. */
async function expectPath(spans: () => readonly ReceivedSpan[], path: readonly unknown[]): Promise<void> {
  await eventually(() => expect(pathTo(spans(), path.at(-1) as string)).toEqual(path));
}

/** Returns the lines from the root of its trace to a span; throws if a parent is missing. */
function pathTo(spans: readonly ReceivedSpan[], line: string): string[] {
  const path: string[] = [];
  let span = spans.find((each) => lineOf(each) === line);
  while (span !== undefined) {
    path.unshift(lineOf(span));
    const { parentSpanId } = span;
    if (parentSpanId === "") return path;
    span = spans.find((each) => each.spanId === parentSpanId);
  }
  throw new Error(`the parent of ${String(path[0])} was not received`);
}

async function pendingSubmission(db: Database): Promise<string> {
  const [row] = await db.query<{ id: string }>(
    "select id from records.submissions where brand_id = $1 and status = 'pending' order by id limit 1",
    [brand.id],
  );
  return row?.id ?? "";
}

it("is one trace from a change over outbox, log and intake to the attempt", async () => {
  const url = `${server.url}${MARK}?token=${MARK}-${newId("x")}`;
  const { id: receiverId } = await stack.addReceiver(brand, url, ["submission.approved"], MARK);
  const id = await pendingSubmission(db);
  const env = { ...otlp.env, PLATFORM_DATABASE_URL: stack.databaseUrl };
  expect(await brandctl(["records", "set-status", "submission", id, "approved"], { env })).toMatchObject({ code: 0 });
  const topic = stack.topic;
  const change = "brandctl: submission approved";
  const ofChange = () => spansOf(otlp.spans.find((span) => lineOf(span) === change)?.traceId);
  await expectPath(ofChange, [change, "brandctl: UPDATE"]);
  await expectPath(ofChange, [change, `records: send ${topic}`]);
  await expectPath(ofChange, [change, `webhook: process ${topic}`, "webhook: events.insert"]);
  await expectPath(ofChange, [change, "webhook: POST"]);
  const attempt = ofChange().find(({ name }) => name === "POST");
  expect(attempt?.attributes).toMatchObject({
    "server.address": "127.0.0.1",
    "http.response.status_code": 204,
    "brand_records.receiver.id": receiverId,
    "brand_records.brand.id": brand.id,
  });
  const { traceId } = attempt as ReceivedSpan;
  // The log is written in batches.
  await eventually(() => {
    const lines = logOf(stack.processes.webhook).filter(({ msg }) => msg === "delivery attempted");
    expect(lines).toContainEqual(expect.objectContaining({ trace_id: traceId, span_id: attempt?.spanId, trace_flags: "01" }));
  });
});

it("links the spans of a batch to each change in it", async () => {
  const traceparents = ["a", "b"].map((digit) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`);
  const unsampled = `00-${"c".repeat(32)}-${"c".repeat(16)}-00`;
  await db.transaction(async (sql) => {
    for (const traceparent of [...traceparents, unsampled]) {
      await sql.query("select set_config('brand_records.traceparent', $1, true)", [traceparent]);
      await sql.query(
        `update records.submissions set status = 'approved', reviewed_at = now() where brand_id = $1 and id =
          (select id from records.submissions where brand_id = $1 and status = 'pending' order by id limit 1)`,
        [brand.id],
      );
    }
  });
  const links = ["a", "b"].map((digit) => expect.objectContaining({ traceId: digit.repeat(32), spanId: digit.repeat(16) }) as unknown);
  await eventually(() =>
    expect(otlp.spans).toContainEqual(expect.objectContaining({ name: `send ${stack.topic}`, parentSpanId: "", links })),
  );
  // Intake reads the messages by partition: each of its batches links to those it holds.
  await eventually(() => {
    const processed = otlp.spans.filter(({ name }) => name === `process ${stack.topic}`).flatMap((span) => span.links);
    expect(processed).toEqual(expect.arrayContaining(links));
  });
  await eventually(() => expect(spansOf("a".repeat(32)).map(lineOf)).toContain("webhook: POST"));
  expect(spansOf("c".repeat(32))).toEqual([]);
});

it("begins a new trace, with a link, for an attempt long after the change", async () => {
  const at = Date.now() - 20 * 60_000;
  const created_at = new Date(at).toISOString();
  const data = { ...EVENT_TYPES["submission.approved"].example(created_at), id: newId("sub", at) };
  const event = { id: newId("evt", at), type: "submission.approved", created_at, brand_id: brand.id, data };
  const change = { traceId: "d".repeat(32), spanId: "d".repeat(16) };
  await db.query(
    "insert into records.outbox (id, aggregatetype, aggregateid, type, payload, traceparent) values ($1, 'submissions', $2, $3, $4, $5)",
    [event.id, data.id, event.type, event, `00-${change.traceId}-${change.spanId}-01`],
  );
  const isItsAttempt = ({ name, attributes }: ReceivedSpan): boolean =>
    name === "POST" && attributes["brand_records.event.id"] === event.id;
  await eventually(() => expect(otlp.spans.some(isItsAttempt)).toBe(true));
  const attempt = otlp.spans.find(isItsAttempt);
  expect(attempt).toMatchObject({ parentSpanId: "", links: [change] });
  expect(attempt?.traceId).not.toBe(change.traceId);
});

it.each(GENERATIONS)("is one trace from an assistant's %s call to the SQL", async (generation) => {
  const response = await post(stack.url, brand.key, toolCall(generation, "list_submissions", { limit: 1 }));
  expect(response.body.result.isError).toBe(false);
  const requestId = response.headers.get("x-request-id");
  const isRequest = ({ attributes, name }: ReceivedSpan): boolean =>
    attributes["brand_records.request.id"] === requestId && name === "POST /api/mcp";
  const method = "records.v1.RecordsService/ListSubmissions";
  await expectPath(
    () => spansOf(otlp.spans.find(isRequest)?.traceId),
    [
      "gateway: POST /api/mcp",
      "gateway: tools/call list_submissions",
      `gateway: ${method}`,
      `records: ${method}`,
      "records: submissions.page",
    ],
  );
});

it("continues a caller's trace", async () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  await fetch(`${stack.url}/api/v1/payouts`, {
    headers: { authorization: `Bearer ${brand.key}`, traceparent: `00-${traceId}-b7ad6b7169203331-00` },
  });
  await eventually(() => expect(spansOf(traceId).map(lineOf)).toContain("records: payouts.page"));
  const isRequest = ({ name }: ReceivedSpan): boolean => name === "GET /api/v1/payouts";
  await eventually(() => expect(spansOf(traceId).find(isRequest)).toMatchObject({ parentSpanId: "b7ad6b7169203331" }));
});

it("is one trace from a person's call in the console to the SQL", async () => {
  const consoleUrl = stack.gateways[0].console?.url ?? "";
  const owner = await signIn(stack, consoleUrl, brand.owner);
  await owner.call("keys.list", { brand_id: brand.id });
  const method = "accounts.v1.AccountsService/ListKeys";
  await expectPath(
    () => spansOf(otlp.spans.find((span) => lineOf(span) === `accounts: ${method}`)?.traceId),
    ["gateway: POST console", expect.stringMatching(/^console: POST /), `console: ${method}`, `accounts: ${method}`],
  );
});

it("samples no request because its caller wants it, and makes no span for a request that is not sampled", async () => {
  const gateway = await startProcess({
    name: "gateway",
    script: scriptOf("gateway"),
    env: {
      ...otlp.env,
      OTEL_TRACES_SAMPLER_ARG: "0",
      PORT: "0",
      ACCOUNTS_ADDRESS: stack.addresses.accounts,
      PLANS_ADDRESS: stack.addresses.plans,
      RECORDS_ADDRESS: stack.addresses.records,
      PUBLIC_URL: "http://localhost",
      STOP_GRACE_MS: "0",
    },
  });
  try {
    const url = `http://127.0.0.1:${(gateway.ready as { port: number }).port}`;
    // The lowest trace ids: those that a decision by trace id would sample first.
    const traceIds = Array.from({ length: 200 }, (_, n) => (n + 1).toString(16).padStart(32, "0"));
    for (const traceId of traceIds) {
      const headers = { authorization: `Bearer ${brand.key}`, traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: "a=b" };
      const response = await fetch(`${url}/api/v1/links`, { headers });
      expect([200, 429]).toContain(response.status);
    }
    expect(await gateway.kill()).toMatchObject({ code: 0 });
  } finally {
    await gateway.kill("SIGKILL");
  }
  // A later request whose spans have arrived shows that earlier ones would have.
  const response = await fetch(`${stack.url}/api/v1/deposits`, { headers: { authorization: `Bearer ${brand.key}` } });
  const requestId = response.headers.get("x-request-id");
  await eventually(() => expect(otlp.spans.some(({ attributes }) => attributes["brand_records.request.id"] === requestId)).toBe(true));
  expect(otlp.spans.filter(({ traceId }) => traceId.startsWith("0".repeat(16)))).toEqual([]);
});

it("holds nothing secret or personal, and nothing that callers make up", async () => {
  const headers = {
    authorization: `Bearer ${brand.key}`,
    "user-agent": MARK,
    cookie: `s=${MARK}`,
    tracestate: `${MARK}=1`,
    "x-request-id": MARK,
  };
  await fetch(`${stack.url}/api/v1/campaigns?cursor=${MARK}`, { headers });
  await fetch(`${stack.url}/api/v1/${MARK}?${MARK}=${MARK}`, { headers });
  await fetch(`${stack.url}/${MARK}`, { headers });
  await fetch(`${stack.url}/api/v1/campaigns`, { headers: { ...headers, authorization: `Bearer brk_live_${MARK}` } });
  const input = planInput({ goal: MARK, planning_notes: MARK });
  await post(stack.url, brand.key, toolCall("legacy", "prepare_campaign_plan", input));
  await post(stack.url, brand.key, toolCall("legacy", MARK, { [MARK]: MARK }));
  await post(stack.url, brand.key, { body: { jsonrpc: "2.0", id: MARK, method: MARK, params: { [MARK]: MARK } } });
  await post(stack.url, brand.key, { body: `{"${MARK}` });
  await post(stack.url, brand.key, toolCall("stateless", "list_links", { cursor: MARK }));
  const last = await fetch(`${stack.url}/api/v1/conversions`, { headers: { authorization: headers.authorization } });
  const requestId = last.headers.get("x-request-id");
  await eventually(() => expect(otlp.spans.some(({ attributes }) => attributes["brand_records.request.id"] === requestId)).toBe(true));
  expect(server.requests.length).toBeGreaterThan(0);
  expect(otlp.spans.length).toBeGreaterThan(50);
  for (const secret of [MARK, brand.key, "brk_live_", "whsec_", brand.owner]) expect(otlp.text()).not.toContain(secret);
});
