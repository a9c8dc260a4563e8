import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPool } from "@brand-records/postgres";
import { createDatabase, eventually, startProcess } from "@brand-records/testkit";
import { serve, type Served } from "../../test/serve.ts";
import { failing, brandctl, Recorder, type Outcome } from "../../test/test-terminal.ts";

interface Checked {
  readonly ok: boolean;
  readonly verdict: string;
  readonly checks: readonly { name: string; state: string; detail: string; remedy?: string; starting?: boolean }[];
}

const PROCESSES = ["gateway", "console", "accounts", "plans", "records", "webhook"] as const;
const READY = '{"status":"ready"}';

describe("brandctl doctor", () => {
  let served: Record<"accounts" | "plans" | "records" | "webhook", Served>;
  let http: Server;
  let origin: string;
  let folder: string;
  /** What /readyz and /metrics return, of every process. */
  let readiness: { status: number; body: string };
  let metrics: { status: number; body: string };
  /** Times that /readyz was read. */
  let reads = 0;
  beforeAll(async () => {
    http = createServer((request, response) => {
      if (request.url === "/readyz") reads += 1;
      const { status, body } = { "/readyz": readiness, "/metrics": metrics }[request.url ?? ""] ?? { status: 200, body: "" };
      response.writeHead(status).end(body);
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    folder = await mkdtemp(join(tmpdir(), "brandctl-"));
    await mkdir(join(folder, ".local"));
  });
  afterAll(() => Promise.all([new Promise((resolve) => http.close(resolve)), rm(folder, { recursive: true })]));
  beforeEach(async () => {
    readiness = { status: 200, body: READY };
    metrics = { status: 200, body: "" };
    // Every gRPC server of ours has the health service.
    const [accounts, plans, records, webhook] = await Promise.all([serve(), serve(), serve(), serve()]);
    served = { accounts, plans, records, webhook };
    await writeFile(join(folder, ".local/run.json"), JSON.stringify(runFile()));
  });
  afterEach(() => Promise.all(Object.values(served).map((service) => service.stop())));

  const addresses = () => Object.fromEntries(Object.entries(served).map(([name, { address }]) => [name, address]));
  const runFile = () => ({ base_url: origin, rpc: addresses(), admin: Object.fromEntries(PROCESSES.map((name) => [name, origin])) });
  const rpcSettings = () => ({
    ...Object.fromEntries(Object.entries(addresses()).map(([name, address]) => [`${name.toUpperCase()}_ADDRESS`, address])),
    BASE_URL: `${origin}/`,
  });
  const adminSettings = () => Object.fromEntries(PROCESSES.map((name) => [`${name.toUpperCase()}_ADMIN`, origin]));
  const statesOf = (outcome: Outcome) => Object.fromEntries(outcome.json<Checked>().checks.map(({ name, state }) => [name, state]));

  it("finds everything healthy when everything responds", async () => {
    const { code, stdout } = await brandctl(["doctor"], { cwd: folder });
    expect(code).toBe(0);
    expect(stdout.match(/✓/g)).toHaveLength(12);
    expect(stdout).toContain("Everything is healthy");
  });

  it("names what a process serves without, says that nothing is lost and what to check, and exits with 1", async () => {
    readiness.body = '{"status":"ready","degraded":["event log"]}';
    const { code, stdout } = await brandctl(["doctor"], { cwd: folder });
    expect(code).toBe(1);
    expect(stdout.match(/!.*ready +serves without its event log/g)).toHaveLength(6);
    expect(stdout).toContain("Is Kafka reachable (KAFKA_BROKERS), or without Kafka the webhook service?");
    expect(stdout).toContain("Events wait in the outbox; nothing is lost.");
    expect(stdout).not.toContain("Everything is healthy");
    expect(stdout).toContain("Everything serves, but something is degraded.");
    const { ok, verdict, checks } = (await brandctl(["doctor", "--json"], { cwd: folder })).json<Checked>();
    expect({ ok, verdict }).toEqual({ ok: false, verdict: "degraded" });
    expect(checks.find(({ name }) => name === "records, ready")).toMatchObject({ state: "degraded", remedy: expect.any(String) });
  });

  it.each([
    ["key 2 of RECEIVER_SECRET_KEYS", "put it into RECEIVER_SECRET_KEYS"],
    ["correct clock", "run NTP there (docs/runbooks/ClockOff.md)"],
  ])("names what a process lacks, with a remedy: %s", async (dependency, remedy) => {
    readiness.body = JSON.stringify({ status: "ready", degraded: [dependency] });
    const { code, stdout } = await brandctl(["doctor"], { cwd: folder });
    expect(code).toBe(1);
    expect(stdout).toMatch(new RegExp(`!.*ready +serves without its ${dependency}`));
    expect(stdout).toContain(remedy);
  });

  it.each<[string, (typeof PROCESSES)[number], string]>([
    ['outbox_oldest_seconds{service="records"} 21.4', "records", "the oldest event has waited for 21 s in the outbox"],
    ['outbox_oldest_seconds{service="records"} -1', "records", "it cannot read from its database how long events wait"],
    ['rate_limiter_redis_up{service="gateway"} 0', "gateway", "it works without Redis"],
    ['intake_lag_messages{service="webhook"} -1', "webhook", "it cannot read from the brokers how many events wait"],
    ['intake_removed_messages{service="webhook"} 12', "webhook", "Kafka has removed 12 events that it has not stored yet"],
    [
      'intake_lost_messages_total{service="webhook"} 40',
      "webhook",
      "since it started, 40 events were lost: Kafka removed them before it stored them",
    ],
    [
      'intake_log_restarts_total{service="webhook"} 4',
      "webhook",
      "since it started, 4 partitions of the topic were made again: what they had held is lost",
    ],
  ])("finds problems in the metrics of a ready process, with remedies: %s", async (sample, process, detail) => {
    metrics.body = `# HELP x\n# TYPE x gauge\nprocess_cpu_seconds_total{service="${process}"} 1\n${sample}\n`;
    const outcome = await brandctl(["doctor", "--json", "--admin", `${process}=${origin}`], { env: rpcSettings() });
    expect(outcome.code).toBe(1);
    const check = outcome.json<Checked>().checks.find(({ name }) => name === `${process}, ready`);
    expect(check).toMatchObject({ state: "degraded", detail, remedy: expect.stringMatching(/reachable \([A-Z_]+\)|EventsLost/) });
  });

  it.each([
    'outbox_oldest_seconds{service="records"} 0.8',
    'rate_limiter_redis_up{service="records"} 1',
    'other{service="records"} -1',
    "no metrics",
  ])("finds nothing wrong in %j", async (sample) => {
    metrics.body = sample;
    const outcome = await brandctl(["doctor", "--json", "--admin", `records=${origin}`], { env: rpcSettings() });
    expect(statesOf(outcome)["records, ready"]).toBe("ok");
  });

  it("reports unreadable metrics of a ready process", async () => {
    metrics = { status: 500, body: "" };
    const outcome = await brandctl(["doctor", "--json"], { cwd: folder });
    expect(outcome.code).toBe(1);
    expect(outcome.json<Checked>().checks.find(({ name }) => name === "plans, ready")).toMatchObject({
      state: "degraded",
      detail: `${origin}/metrics cannot be read: status 500`,
    });
  });

  it("repeats the checks while a process has just started, names at once what is wrong, and is healthy when it is", async () => {
    readiness = { status: 503, body: '{"status":"not ready","waiting_for":["process"]}' };
    const stderr = new Recorder(false);
    const running = brandctl(["doctor"], { cwd: folder, stderr });
    await eventually(() => expect(stderr.text).toContain("Processes have just started. Checking again for up to 60 s:\n"));
    expect(stderr.text).toContain("\n  records, ready: not ready, waits for its process\n");
    readiness = { status: 200, body: READY };
    const { code, stdout } = await running;
    expect([code, stdout]).toEqual([0, expect.stringContaining("Everything is healthy.")]);
  });

  it("repeats the checks also for what a young process lacks, no longer than --wait, and not for an old process", async () => {
    readiness.body = '{"status":"ready","degraded":["event log"]}';
    for (const [startedAt, starting, times] of [
      [Date.now() / 1_000, true, 2],
      [Date.now() / 1_000 - 61, undefined, 1],
    ] as const) {
      metrics.body = `process_start_time_seconds{service="records"} ${startedAt}\n`;
      reads = 0;
      const args = ["doctor", "--json", "--wait", "1", "--admin", `records=${origin}`];
      const outcome = await brandctl(args, { env: rpcSettings() });
      const check = outcome.json<Checked>().checks.find(({ name }) => name === "records, ready");
      expect([outcome.code, check?.state, check?.starting]).toEqual([1, "degraded", starting]);
      expect(reads).toBeGreaterThanOrEqual(times);
      if (times === 1) expect([reads, outcome.stderr]).toEqual([1, ""]);
    }
  });

  it("notices an admin address that belongs to another process", async () => {
    metrics.body = 'outbox_oldest_seconds{service="records"} 0\n';
    const outcome = await brandctl(["doctor", "--json"], { cwd: folder });
    expect(outcome.code).toBe(1);
    expect(outcome.json<Checked>().checks.find(({ name }) => name === "plans, ready")).toMatchObject({
      state: "failed",
      detail: expect.stringContaining("is the admin address of records, not of plans"),
    });
  });

  it.each(['{"status":"ready","degraded":[]}', '{"status":"ready","degraded":"x"}', "ready", "null", ""])(
    "takes %j for ready: the status code decides",
    async (body) => {
      readiness.body = body;
      expect((await brandctl(["doctor"], { cwd: folder })).stdout).toContain("Everything is healthy");
    },
  );

  it("names what is unreachable, with a hint, and exits with 1", async () => {
    await served.records.stop();
    readiness = { status: 503, body: '{"status":"not ready","waiting_for":["postgres"]}' };
    const outcome = await brandctl(["doctor", "--json"], { cwd: folder });
    expect(outcome.code).toBe(1);
    const { ok, verdict, checks } = outcome.json<Checked>();
    expect({ ok, verdict }).toEqual({ ok: false, verdict: "failed" });
    expect(statesOf(outcome)).toEqual({
      "run file": "ok",
      "accounts, gRPC": "ok",
      "plans, gRPC": "ok",
      "records, gRPC": "failed",
      "webhook, gRPC": "ok",
      "gateway, ready": "failed",
      "console, ready": "failed",
      "accounts, ready": "failed",
      "plans, ready": "failed",
      "records, ready": "failed",
      "webhook, ready": "failed",
      "base URL": "ok",
    });
    expect(checks.filter(({ state, remedy }) => state === "failed" && remedy === undefined)).toEqual([]);
    expect(checks.find(({ name }) => name === "plans, ready")).toMatchObject({
      detail: "not ready, waits for its postgres",
      remedy: "Is Postgres reachable (DATABASE_URL)?",
    });
  });

  it("needs no run file when settings have every address, admin ports included", async () => {
    const outcome = await brandctl(["doctor"], { env: { ...rpcSettings(), ...adminSettings() } });
    expect(outcome.stdout).toContain("Everything is healthy");
    expect(outcome.code).toBe(0);
  });

  it("without admin addresses does not call the system healthy: it lists what was not checked, and exits with 3", async () => {
    const { code, stdout } = await brandctl(["doctor"], { env: rpcSettings() });
    expect(code).toBe(3);
    expect(stdout.match(/ready +not checked: its admin address is not known/g)).toHaveLength(6);
    expect(stdout).toContain("Set RECORDS_ADMIN or pass --admin records=URL");
    expect(stdout).not.toContain("Everything is healthy");
    expect(stdout).toContain("Nothing wrong was found. 6 of 12 checks could not be made.");
    const json = (await brandctl(["doctor", "--json"], { env: rpcSettings() })).json<Checked>();
    expect(json).toMatchObject({ ok: false, verdict: "not_all_checked" });
  });

  it("takes admin addresses from flags before settings before the run file, several for one process", async () => {
    const unreachable = "127.0.0.1:1";
    const flags = ["--admin", `records=${origin}`, "--admin", `records=${unreachable}`];
    const env = { RECORDS_ADMIN: unreachable, PLANS_ADMIN: `${origin}, http://${unreachable}` };
    const { checks } = (await brandctl(["doctor", "--json", ...flags], { cwd: folder, env })).json<Checked>();
    const details = (process: string) => checks.filter(({ name }) => name === `${process}, ready`).map(({ detail }) => detail);
    expect(details("records")).toEqual([`${origin} is ready (--admin)`, expect.stringContaining(`http://${unreachable}/readyz: `)]);
    expect(details("plans")).toEqual([`${origin} is ready (PLANS_ADMIN)`, expect.stringContaining(`http://${unreachable}/readyz: `)]);
    expect(details("webhook")).toEqual([expect.stringContaining("run.json")]);
  });

  it.each([["records"], ["records="], ["redis=http://127.0.0.1:1"], ["records=ftp://x"], ["records=http://x/metrics"], ["=http://x"]])(
    "refuses --admin %s as wrong usage",
    async (flag) => {
      expect(await brandctl(["doctor", "--admin", flag], { cwd: folder })).toMatchObject(failing(2, flag.slice(flag.indexOf("=") + 1)));
    },
  );

  it("names a setting that is not an address", async () => {
    const outcome = await brandctl(["doctor"], { cwd: folder, env: { GATEWAY_ADMIN: "http://gateway:9090,,x y" } });
    expect(outcome).toMatchObject(failing(1, "GATEWAY_ADMIN"));
  });

  it("gives a hint if no address is known", async () => {
    const { code, stdout } = await brandctl(["doctor"]);
    expect(code).toBe(1);
    expect(stdout).toContain("npm start");
  });

  it("finds a records service without its broker, and how long events have waited", async () => {
    const database = await createDatabase("empty");
    const records = await startProcess({
      name: "records",
      script: join(process.cwd(), "services/records/dist/bundle/main.js"),
      env: { DATABASE_URL: database.url, KAFKA_BROKERS: "127.0.0.1:1", STOP_GRACE_MS: "0" },
    });
    const { rpc_port, admin_port } = records.ready as { rpc_port: number; admin_port: number };
    const db = openPool({ url: database.url, max: 1, applicationName: "doctor test" });
    await db.query(
      `insert into records.outbox (id, aggregatetype, aggregateid, type, payload)
       values ('evt_1', 'payout', 'po_1', 'payout.paid', json_build_object('created_at', records.utc(now() - interval '5 minutes')))`,
    );
    const env = {
      ...rpcSettings(),
      ...adminSettings(),
      RECORDS_ADDRESS: `127.0.0.1:${rpc_port}`,
      RECORDS_ADMIN: `127.0.0.1:${admin_port}`,
    };
    const outcome = await brandctl(["doctor", "--json", "--wait", "0"], { env });
    await db.stop();
    await records.kill();
    await database.drop();
    expect(outcome.code).toBe(1);
    const wrong = outcome.json<Checked>().checks.filter(({ state }) => state !== "ok");
    expect(wrong).toEqual([
      {
        name: "records, ready",
        state: "degraded",
        detail: expect.stringMatching(/^serves without its event log; the oldest event has waited for 30\d s in the outbox$/),
        remedy: expect.stringMatching(/^Is Kafka reachable \(KAFKA_BROKERS\)/),
        starting: true,
      },
    ]);
  });
});
