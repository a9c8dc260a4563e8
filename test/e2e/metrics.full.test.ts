import { eventually, type ServiceProcess } from "@brand-records/testkit";
import { metricsOf } from "../admin-port.ts";
import { signIn } from "../console-calls.ts";
import { listedMetrics, type ListedMetric } from "../docs/metrics-page.ts";
import { post, request, toolCall } from "../mcp.ts";
import { rawRequest } from "../raw-http.ts";
import { startStack, type Stack, type TestBrand } from "../stack.ts";

/** Two promises: docs/metrics.md describes what the processes serve, and a caller can make no series. */

let stack: Stack;
let brand: TestBrand;
let processes: Readonly<Record<string, ServiceProcess>>;
beforeAll(async () => {
  const redisUrl = process.env["TEST_REDIS_URL"] ?? "";
  const kafkaBrokers = process.env["TEST_KAFKA_BROKERS"] ?? "";
  const env = { RATE_LIMIT_PLUS: "100000", SIGN_INS_PER_ADDRESS: "10000", USAGE_FLUSH_SECONDS: "1" };
  const mail = { SMTP_URL: "smtp://127.0.0.1:1025", MAIL_FROM: "no-reply@records.example", PUBLIC_URL: "https://records.example" };
  stack = await startStack({ hasConsole: true, redisUrl, kafkaBrokers, env, envOf: { accounts: mail } });
  brand = await stack.createBrand();
  const [{ process: gateway, console }] = stack.gateways;
  if (console === undefined) throw new Error("the stack has a console");
  processes = { ...stack.processes, gateway, console: console.process };
});
afterAll(() => stack.stop());

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

interface Scrape {
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
}

async function scrape(process: ServiceProcess): Promise<Scrape> {
  const text = await metricsOf(process);
  const types = new Map([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = "", type = ""]) => [name, type]));
  const samples = [...text.matchAll(/^(\w+)\{(.*)\} \S+$/gm)].map(([, series = "", labels = ""]) => {
    const name = types.has(series) ? series : series.replace(/_(bucket|sum|count)$/, "");
    return { name, labels: Object.fromEntries([...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, value]) => [key, value])) };
  });
  return { types, samples };
}

/** Whether the page lists the label: every metric has a service, and every histogram bounds. */
const isListedLabel = (name: string): boolean => name !== "service" && name !== "le";

/** Sends what a hostile caller may: other values in every round. */
async function sendRubbish(round: string, cookie: string): Promise<void> {
  const { url } = stack;
  const key = brand.key;
  const get = (path: string, headers: Record<string, string> = {}): Promise<unknown> =>
    fetch(`${url}${path}`, { headers, redirect: "manual" });
  const authorized = { authorization: `Bearer ${key}` };
  await get(`/${round}`);
  await get(`/api/v1/${round}?${round}=1`, authorized);
  await get(`/api/v1/links?limit=${round}`, { ...authorized, "user-agent": round, "x-request-id": round });
  await get("/api/v1/links", { ...authorized, traceparent: `00-${round.padEnd(32, "a").slice(0, 32)}-${"b".repeat(16)}-01` });
  await get("/api/v1/links", { authorization: `Bearer ${round}` });
  await get(`/api/mcp/.well-known/${round}`);
  await get(`/developers/${round}`);
  await get(`/workspaces/${round}/${round}`, { cookie: `session=${round}` });
  await get(`/auth/${round}`);
  await get(`/console/assets/${round}`);
  for (const method of [round.toUpperCase().replaceAll(/[^A-Z]/g, "") || "X", "DELETE", "PATCH"]) {
    await rawRequest(url, [`${method} /api/v1/links HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`]);
  }
  for (const generation of ["legacy", "stateless"] as const) {
    await post(url, key, request(generation, round));
    await post(url, key, request(generation, `tools/${round}`));
    await post(url, key, toolCall(generation, round));
    await post(url, key, toolCall(generation, "list_links", { [round]: round }));
    await post(url, key, { body: { jsonrpc: round, id: round, method: round } });
  }
  await post(url, key, { headers: { "mcp-protocol-version": round }, body: { jsonrpc: "2.0", id: 1, method: "ping" } });
  const call = (name: string, body: unknown): Promise<unknown> =>
    fetch(`${url}/console/api/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json", "sec-fetch-site": "same-origin", cookie },
      body: JSON.stringify(body),
    });
  await call(round, {});
  await call("toString", {});
  await call("sign_in.redeem", { token: round });
  await call("keys.list", { brand_id: round });
  await call("deliveries.get", { brand_id: brand.id, delivery_id: round });
}

const seriesIn = ({ samples }: Scrape): Set<string> =>
  new Set(
    samples
      // Node's own: which sockets are open, and how garbage was collected.
      .filter(({ name }) => !name.startsWith("nodejs_"))
      .map(({ name, labels }) => `${name} ${JSON.stringify(Object.entries(labels).filter(([label]) => label !== "le"))}`),
  );

it("makes no series for what callers make up", async () => {
  const { cookie } = await signIn(stack, stack.gateways[0].console?.url ?? "", brand.owner);
  const allSeries = async (): Promise<Set<string>> => {
    const scrapes = await Promise.all(Object.values(processes).map(scrape));
    return new Set(scrapes.flatMap((each) => [...seriesIn(each)]));
  };
  await sendRubbish("firstround", cookie);
  // Calls in the background follow the first requests.
  await eventually(async () => expect([...(await allSeries())].join()).toContain("RecordUsage"));
  // What the first requests start, and calls that a busy machine ends otherwise, may come later: until a round adds nothing.
  let warmed = 0;
  await eventually(
    async () => {
      const earlier = await allSeries();
      await sendRubbish(`warm${"abcdefghijklmnopqrstuvwxyz".charAt((warmed += 1) % 26)}round`, cookie);
      expect([...(await allSeries())].filter((series) => !earlier.has(series))).toEqual([]);
    },
    { timeoutMs: 60_000, everyMs: 1_000 },
  );
  const before = await allSeries();
  for (let round = 0; round < 8; round += 1) await sendRubbish(`round${String.fromCharCode(97 + round)}x`, cookie);
  const after = await allSeries();
  expect([...after].filter((series) => !before.has(series))).toEqual([]);
  expect([...after].filter((series) => /round/i.test(series))).toEqual([]);
});

it("serves the metrics that are listed, with their types and labels, and no other", async () => {
  await post(stack.url, brand.key, toolCall("stateless", "list_links"));
  const scrapes = new Map(await Promise.all(Object.entries(processes).map(async ([name, each]) => [name, await scrape(each)] as const)));
  const listed = listedMetrics();
  const problems: string[] = [];
  for (const [service, { types, samples }] of scrapes) {
    const ofService = new Map(listed.filter(({ services }) => services.includes(service)).map((each) => [each.name, each]));
    for (const [name, type] of types) {
      const found = ofService.get(name);
      if (found === undefined) {
        // The page names what of the library's helps.
        if (!/^(process|nodejs)_/.test(name)) problems.push(`${service} serves ${name}, which is not listed`);
      } else if (found.type !== type) problems.push(`${name} is a ${type}`);
    }
    for (const name of ofService.keys())
      if (!types.has(name) && !isAbsent(service, name)) problems.push(`${service} does not serve ${name}`);
    for (const sample of samples) problems.push(...problemsOf(sample, service, ofService.get(sample.name)));
  }
  expect([...new Set(problems)]).toEqual([]);
});

/** Metrics that this stack cannot have: it has no TLS, and with Kafka records calls no service. */
const isAbsent = (service: string, name: string): boolean =>
  name.startsWith("tls_certificate_") ||
  name === "rpc_refused_calls_total" ||
  (service === "records" && name === "rpc_client_duration_seconds");

function problemsOf({ name, labels }: Sample, service: string, listed: ListedMetric | undefined): string[] {
  if (listed === undefined) return [];
  const problems = labels["service"] === service ? [] : [`${name} has the service ${labels["service"]}`];
  const own = Object.entries(labels).filter(([label]) => isListedLabel(label));
  const names = own.map(([label]) => label).toSorted();
  if (names.join() !== [...listed.labels.keys()].toSorted().join()) problems.push(`${name} has the labels ${names.join()}`);
  for (const [label, value] of own) {
    const values = listed.labels.get(label);
    if (values !== undefined && !values.has(value)) problems.push(`${name} has ${label} ${value}`);
  }
  return problems;
}
