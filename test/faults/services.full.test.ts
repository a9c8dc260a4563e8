import { eventually } from "@brand-records/testkit";
import { post, request, toolCall } from "../mcp.ts";
import { planInput } from "../plan-input.ts";
import { startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: whichever process is killed, requests get a JSON answer within the deadline, and all is well again by itself. */

const DEADLINE_MS = 1_500;

let stack: Stack;
let brand: TestBrand;

beforeAll(async () => {
  stack = await startStack({ gateways: 2, env: { RATE_LIMIT_PLUS: "100000", REQUEST_DEADLINE_MS: String(DEADLINE_MS) } });
  brand = await stack.createBrand();
});
afterAll(() => stack.stop());

interface Answer {
  readonly status: number;
  readonly code: string | undefined;
}

/** Clients in closed loops until told to stop; every answer is kept. */
function startTraffic(clients: number, gateway = 0): { readonly answers: Answer[]; stop(): Promise<void> } {
  const answers: Answer[] = [];
  let stopping = false;
  const client = async (): Promise<void> => {
    while (!stopping) {
      const response = await stack.get("/api/v1/links?limit=5", brand.key, gateway);
      const body = (await response.json()) as { error?: { code: string } };
      answers.push({ status: response.status, code: body.error?.code });
    }
  };
  const running = Promise.all(Array.from({ length: clients }, client));
  return {
    answers,
    async stop() {
      stopping = true;
      await running;
    },
  };
}

const served = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 200).length;

it.each(["records", "accounts"] as const)(
  "%s killed under load: 503 or 504 as JSON meanwhile, 200 again once it is back",
  async (service) => {
    const traffic = startTraffic(8);
    await eventually(() => expect(served(traffic.answers)).toBeGreaterThan(50));
    await stack.processes[service].kill("SIGKILL");
    await eventually(() => expect(traffic.answers.filter(({ status }) => status !== 200).length).toBeGreaterThan(10));
    await stack.restart(service);
    const before = traffic.answers.length;
    await eventually(() => {
      const since = traffic.answers.slice(before);
      expect(since.slice(-50)).toHaveLength(50);
      expect(served(since.slice(-50))).toBe(50);
    });
    await traffic.stop();
    const failures = new Set(traffic.answers.filter(({ status }) => status !== 200).map(({ status, code }) => `${status} ${code}`));
    expect([...failures].filter((failure) => failure !== "503 unavailable" && failure !== "504 timeout")).toEqual([]);
  },
  60_000,
);

it("records frozen: 504 as JSON at the deadline, not later by more than its own answer takes", async () => {
  process.kill(stack.processes.records.pid, "SIGSTOP");
  const answers = await Promise.all(Array.from({ length: 4 }, () => stack.get("/api/v1/links", brand.key)));
  process.kill(stack.processes.records.pid, "SIGCONT");
  for (const answer of answers) {
    expect(answer.status).toBe(504);
    expect(await answer.json()).toMatchObject({ error: { code: "timeout" } });
  }
  await eventually(async () => expect((await stack.get("/api/v1/links", brand.key)).status).toBe(200));
});

it("assistants are told of a failure as one, with the id of their message, and can connect and list tools meanwhile", async () => {
  const call = (id: string) => post(stack.url, brand.key, toolCall("stateless", "list_links", {}, id));
  process.kill(stack.processes.records.pid, "SIGSTOP");
  const hanging = await call("hanging");
  expect(hanging).toMatchObject({ status: 504, body: { id: "hanging", error: { code: -32000, data: { code: "timeout" } } } });
  await stack.processes.records.kill("SIGKILL");
  const away = await call("away");
  expect(away).toMatchObject({ status: 503, body: { id: "away", error: { code: -32000, data: { code: "unavailable" } } } });
  expect(Number(away.headers.get("retry-after"))).toBeGreaterThan(0);
  for (const method of ["server/discover", "tools/list"])
    expect((await post(stack.url, brand.key, request("stateless", method))).status).toBe(200);
  await stack.restart("records");
  await eventually(async () => expect(await call("back")).toMatchObject({ status: 200, body: { id: "back", result: { isError: false } } }));
});

it("plans killed: 503 with Retry-After to who prepares one, over HTTP and by tool; reading goes on; back by itself, once", async () => {
  const { key } = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  const input = planInput();
  const prepare = () =>
    fetch(`${stack.url}/api/v1/campaign-plans`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(input),
    });
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

it("records told to stop finishes what it has begun, and is back without a failed request once it is started again", async () => {
  const traffic = startTraffic(8);
  await eventually(() => expect(served(traffic.answers)).toBeGreaterThan(50));
  const { code } = await stack.processes.records.kill("SIGTERM");
  expect(code).toBe(0);
  await stack.restart("records");
  const before = traffic.answers.length;
  await eventually(() => expect(served(traffic.answers.slice(before))).toBeGreaterThan(50));
  await traffic.stop();
  // With no other process of the service to go to, requests of the gap are refused; those under way were not.
  const failures = traffic.answers.filter(({ status }) => status !== 200);
  expect(failures.filter(({ code: kind }) => kind !== "unavailable")).toEqual([]);
}, 60_000);

it("a gateway told to stop fails no request: clients leave with their last answer", async () => {
  const [, leaving] = stack.gateways;
  if (leaving === undefined) throw new Error("needs two gateways");
  const statuses: number[] = [];
  // As HTTP has it: whoever is told that the connection ends goes elsewhere with the next request.
  const client = async (): Promise<void> => {
    for (let told = false; !told;) {
      const response = await stack.get("/api/v1/links?limit=5", brand.key, 1);
      statuses.push(response.status);
      await response.arrayBuffer();
      told = response.headers.get("connection") === "close";
    }
  };
  const clients = Promise.all(Array.from({ length: 8 }, client));
  await eventually(() => expect(statuses.length).toBeGreaterThan(50));
  const exit = leaving.process.kill("SIGTERM");
  await clients;
  expect(await exit).toEqual({ code: 0, signal: null });
  expect(new Set(statuses)).toEqual(new Set([200]));
}, 60_000);
