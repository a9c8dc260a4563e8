import { connect } from "node:net";
import { openPool, type Database } from "@brand-records/postgres";
import { eventually, type ServiceProcess } from "@brand-records/testkit";
import { logOf, metricsOf, type LogLine } from "../admin-port.ts";
import { startStack, type Stack, type TestBrand } from "../stack.ts";

/**
 * One promise: a failure on our side is logged at warn with its cause, and counted, by the process in which it arises, and by no process
 * that only passes it on.
 */

/** Longer than a busy machine takes for what is to succeed. */
const DEADLINE_MS = 3_000;

let stack: Stack;
let brand: TestBrand;
let db: Database;
beforeAll(async () => {
  stack = await startStack({ env: { REQUEST_DEADLINE_MS: String(DEADLINE_MS) } });
  brand = await stack.createBrand();
  db = openPool({ url: stack.databaseUrl, applicationName: "test" });
  // The first requests of a process take longest.
  for (const path of ["/api/v1/links", "/api/v1/payouts"])
    await eventually(async () => expect((await stack.get(path, brand.key)).status).toBe(200));
});
afterAll(async () => {
  await db.stop();
  await stack.stop();
});

/** Sends a request and returns its status and its id. */
async function get(path = "/api/v1/links"): Promise<{ status: number; requestId: string }> {
  const response = await stack.get(path, brand.key);
  return { status: response.status, requestId: response.headers.get("x-request-id") ?? "" };
}

/** Waits for a request's line of at least info. */
async function lineOf(process: ServiceProcess, requestId: string): Promise<LogLine> {
  return eventually(() => {
    const found = logOf(process).filter(({ request_id, level }) => request_id === requestId && level !== "debug");
    expect(found).toHaveLength(1);
    return found[0] as LogLine;
  });
}

/** Returns the sum of the samples of a metric whose labels contain `labels`. */
async function sumOf(process: ServiceProcess, name: string, labels: string): Promise<number> {
  const samples = [...(await metricsOf(process)).matchAll(new RegExp(`^${name}\\{([^}]*)\\} (\\S+)$`, "gm"))];
  return samples.filter(([, found = ""]) => found.includes(labels)).reduce((sum, [, , value]) => sum + Number(value), 0);
}

const gateway = (): ServiceProcess => stack.gateways[0].process;
const serverErrors = (process: ServiceProcess, labels = ""): Promise<number> => sumOf(process, "server_errors_total", labels);
const servedLinks = (code: string): Promise<number> =>
  sumOf(stack.processes.records, "rpc_server_duration_seconds_count", `method="/records.v1.RecordsService/ListLinks",code="${code}"`);

it("reports a service that is slow at the gateway, and there once it is done", async () => {
  const okBefore = await servedLinks("ok");
  const timeoutsBefore = await servedLinks("timeout");
  const ofRecords = 'kind="timeout",dependency="records"';
  const ofNone = 'kind="timeout",dependency="none"';
  const before = [await serverErrors(gateway(), ofRecords), await serverErrors(stack.processes.records, ofNone)];
  const lock = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const locking = db.transaction(async (sql) => {
    await sql.query("lock table records.links in access exclusive mode");
    locked.resolve();
    await lock.promise;
  });
  await locked.promise;
  const { status, requestId } = await get();
  // Comes before anything can fail: a lock that stays would keep this file from stopping.
  lock.resolve();
  await locking;
  expect(status).toBe(504);
  expect(await lineOf(gateway(), requestId)).toMatchObject({
    level: "warn",
    msg: "request failed",
    error: "timeout",
    kind: "timeout",
    dependency: "records",
    cause: expect.stringContaining("DEADLINE_EXCEEDED"),
    trace_id: expect.any(String),
  });
  expect(await lineOf(stack.processes.records, requestId)).toMatchObject({
    level: "warn",
    msg: "call failed",
    kind: "timeout",
    cause: expect.stringMatching(/ended \d+ ms after its deadline/),
    trace_id: expect.any(String),
  });
  expect(await servedLinks("ok")).toBe(okBefore);
  expect(await servedLinks("timeout")).toBe(timeoutsBefore + 1);
  expect([await serverErrors(gateway(), ofRecords), await serverErrors(stack.processes.records, ofNone)]).toEqual(
    before.map((count) => count + 1),
  );
});

it("reports a frozen service at the gateway", async () => {
  const before = await serverErrors(gateway(), 'kind="timeout",dependency="records"');
  process.kill(stack.processes.records.pid, "SIGSTOP");
  const { status, requestId } = await get();
  process.kill(stack.processes.records.pid, "SIGCONT");
  expect(status).toBe(504);
  expect(await lineOf(gateway(), requestId)).toMatchObject({ level: "warn", dependency: "records", cause: expect.any(String) });
  expect(await serverErrors(gateway(), 'kind="timeout",dependency="records"')).toBe(before + 1);
  await eventually(async () => expect((await get()).status).toBe(200));
});

it("reports what arises at a service there, and only passes it on at the gateway", async () => {
  const before = await serverErrors(gateway());
  await db.query("alter table records.payouts rename to payouts_away");
  const { status, requestId } = await get("/api/v1/payouts");
  await db.query("alter table records.payouts_away rename to payouts");
  expect(status).toBe(500);
  expect(await lineOf(stack.processes.records, requestId)).toMatchObject({
    level: "error",
    msg: "call failed",
    kind: "internal_error",
    dependency: "none",
    cause: 'relation "records.payouts" does not exist',
    err: { stack: expect.any(String) },
  });
  expect(await lineOf(gateway(), requestId)).toMatchObject({ level: "info", msg: "request served", error: "internal_error" });
  expect(await serverErrors(gateway())).toBe(before);
  expect(await serverErrors(stack.processes.records, 'kind="internal_error",dependency="none"')).toBe(1);
});

it("reports a service without a connection at the gateway", async () => {
  await stack.processes.records.kill("SIGKILL");
  const { status, requestId } = await get();
  await stack.restart("records");
  expect(status).toBe(503);
  expect(await lineOf(gateway(), requestId)).toMatchObject({ level: "warn", error: "unavailable", dependency: "records" });
  expect(await serverErrors(gateway(), 'kind="unavailable",dependency="records"')).toBeGreaterThan(0);
  await eventually(async () => expect((await get()).status).toBe(200));
});

it("does not count a client that disconnects as a failure on our side", async () => {
  const before = [await serverErrors(gateway()), await serverErrors(stack.processes.records)];
  const decisions = (): Promise<number> => sumOf(gateway(), "rate_limiter_decisions_total", 'verdict="admitted"');
  const admitted = await decisions();
  const requestId = "gone-away";
  process.kill(stack.processes.records.pid, "SIGSTOP");
  try {
    const socket = connect(Number(new URL(stack.url).port), "127.0.0.1");
    socket.write(`GET /api/v1/links HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${brand.key}\r\nX-Request-Id: ${requestId}\r\n\r\n`);
    await eventually(async () => expect(await decisions()).toBe(admitted + 1));
    socket.resetAndDestroy();
    expect(await lineOf(gateway(), requestId)).toMatchObject({ level: "info", status: 499 });
  } finally {
    process.kill(stack.processes.records.pid, "SIGCONT");
  }
  await eventually(async () => expect((await get()).status).toBe(200));
  expect([await serverErrors(gateway()), await serverErrors(stack.processes.records)]).toEqual(before);
  expect(await sumOf(gateway(), "operation_duration_seconds_count", 'operation="list_links",via="rest",error="client_gone"')).toBe(1);
});
