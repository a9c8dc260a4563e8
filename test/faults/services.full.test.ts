import { eventually } from "@brand-records/testkit";
import { post, request, toolCall } from "../mcp.ts";
import { startClients, type RunningClients } from "../clients-in-turn.ts";
import { planInput, postPlan } from "../plan-input.ts";
import { startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: when a process is killed, requests get a JSON response within the deadline, and the system recovers automatically. */

/** Longer than a busy machine takes for what is to succeed. */
const DEADLINE_MS = 4_000;

let stack: Stack;
let brand: TestBrand;

beforeAll(async () => {
  stack = await startStack({ gateways: 2, env: { RATE_LIMIT_PLUS: "100000", REQUEST_DEADLINE_MS: String(DEADLINE_MS) } });
  brand = await stack.createBrand();
});
afterAll(() => stack.stop());

interface Outcome {
  readonly began: number;
  readonly status: number;
  readonly code: string | undefined;
}

/** Sends requests from eight clients. */
const startTraffic = (): RunningClients<Outcome> =>
  startClients(8, async () => {
    const began = performance.now();
    const response = await stack.get("/api/v1/links?limit=5", brand.key);
    const body = (await response.json()) as { error?: { code: string } };
    return { began, status: response.status, code: body.error?.code };
  });

const served = (outcomes: readonly Outcome[]) => outcomes.filter(({ status }) => status === 200).length;

it.each(["records", "accounts"] as const)("responds 503 or 504 as JSON while %s is killed, and 200 once it is back", async (service) => {
  const traffic = startTraffic();
  await eventually(() => expect(served(traffic.results)).toBeGreaterThan(50));
  await stack.processes[service].kill("SIGKILL");
  await eventually(() => expect(traffic.results.filter(({ status }) => status !== 200).length).toBeGreaterThan(10));
  await stack.restart(service);
  const before = traffic.results.length;
  await eventually(() => {
    const since = traffic.results.slice(before);
    expect(since.slice(-50)).toHaveLength(50);
    expect(served(since.slice(-50))).toBe(50);
  });
  await traffic.stop();
  const failures = new Set(traffic.results.filter(({ status }) => status !== 200).map(({ status, code }) => `${status} ${code}`));
  expect([...failures].filter((failure) => failure !== "503 unavailable" && failure !== "504 timeout")).toEqual([]);
});

it("responds 504 as JSON at the deadline while records is frozen", async () => {
  process.kill(stack.processes.records.pid, "SIGSTOP");
  const responses = await Promise.all(Array.from({ length: 4 }, () => stack.get("/api/v1/links", brand.key)));
  process.kill(stack.processes.records.pid, "SIGCONT");
  for (const response of responses) {
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ error: { code: "timeout" } });
  }
  await eventually(async () => expect((await stack.get("/api/v1/links", brand.key)).status).toBe(200));
});

it("sends assistants an error with their message id while records fails, and still lists tools", async () => {
  const call = (id: string) => post(stack.url, brand.key, toolCall("stateless", "list_links", {}, id));
  process.kill(stack.processes.records.pid, "SIGSTOP");
  const hanging = await call("hanging");
  expect(hanging).toMatchObject({ status: 504, body: { id: "hanging", error: { code: -32000, data: { code: "timeout" } } } });
  await stack.processes.records.kill("SIGKILL");
  const unavailable = await call("unavailable");
  expect(unavailable).toMatchObject({ status: 503, body: { id: "unavailable", error: { code: -32000, data: { code: "unavailable" } } } });
  expect(Number(unavailable.headers.get("retry-after"))).toBeGreaterThan(0);
  for (const method of ["server/discover", "tools/list"])
    expect((await post(stack.url, brand.key, request("stateless", method))).status).toBe(200);
  await stack.restart("records");
  await eventually(async () => expect(await call("back")).toMatchObject({ status: 200, body: { id: "back", result: { isError: false } } }));
});

it("refuses to prepare plans with 503 while plans is killed, still serves lists, and then makes the plan once", async () => {
  const { key } = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  const input = planInput();
  const prepare = () => postPlan(stack.url, key, input);
  await stack.processes.plans.kill("SIGKILL");
  const refused = await prepare();
  expect({ status: refused.status, wait: Number(refused.headers.get("retry-after")) > 0, body: await refused.json() }).toMatchObject({
    status: 503,
    wait: true,
    body: { error: { code: "unavailable" } },
  });
  const byTool = await post(stack.url, key, toolCall("stateless", "prepare_campaign_plan", input));
  expect(byTool).toMatchObject({ status: 503, body: { error: { code: -32000, data: { code: "unavailable" } } } });
  expect((await stack.get("/api/v1/links", key)).status).toBe(200);
  await stack.restart("plans");
  await eventually(async () => expect((await prepare()).status).toBe(201));
  expect((await prepare()).status).toBe(200);
});

it("finishes requests in progress when records stops, and fails none once it is started again", async () => {
  const traffic = startTraffic();
  await eventually(() => expect(served(traffic.results)).toBeGreaterThan(50));
  const { code } = await stack.processes.records.kill("SIGTERM");
  expect(code).toBe(0);
  const endedAt = performance.now();
  await stack.restart("records");
  const before = traffic.results.length;
  await eventually(() => expect(served(traffic.results.slice(before))).toBeGreaterThan(50));
  await traffic.stop();
  // The only process is gone: requests are refused until it is back, or wait in vain for one that is just starting. Those in progress were not.
  const failures = traffic.results.filter(({ status }) => status !== 200);
  expect(failures.filter(({ code: kind, began }) => kind !== "unavailable" && (kind !== "timeout" || began < endedAt))).toEqual([]);
});

it("fails no request when a gateway stops: clients leave after its last response", async () => {
  const [, leaving] = stack.gateways;
  if (leaving === undefined) throw new Error("needs two gateways");
  const statuses: number[] = [];
  // As HTTP requires, a client sends nothing more here after a response with `Connection: close`.
  const client = async (): Promise<void> => {
    for (let isClosed = false; !isClosed;) {
      const response = await stack.get("/api/v1/links?limit=5", brand.key, 1);
      statuses.push(response.status);
      await response.arrayBuffer();
      isClosed = response.headers.get("connection") === "close";
    }
  };
  const clients = Promise.all(Array.from({ length: 8 }, client));
  await eventually(() => expect(statuses.length).toBeGreaterThan(50));
  const exit = leaving.process.kill("SIGTERM");
  await clients;
  expect(await exit).toEqual({ code: 0, signal: null });
  expect(new Set(statuses)).toEqual(new Set([200]));
});
