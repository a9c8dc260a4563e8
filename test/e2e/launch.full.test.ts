import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { appendFile, chmod, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEMO_RESOURCES } from "@brand-records/demo-data";
import { openPool } from "@brand-records/postgres";
import { freePort } from "@brand-records/postgres/embedded";
import { eventually } from "@brand-records/testkit";

/** One promise: `npm start` sets up a working system, keeps it running, and recovers from every failure. */

interface RunFile {
  base_url: string;
  launcher: { pid: number };
  admin: Record<string, string>;
  rpc: Record<string, string>;
  cells: Record<string, string>;
  cell_databases: Record<string, string>;
  platform_database_url: string;
  brands: { id: string; name: string; tier: string; keys: { reporting: string; planner: string } }[];
}

/** Seven seconds on an idle machine with two cores. */
const START_MS_MAX = 120_000;
jest.setTimeout(3 * START_MS_MAX);

let directory: string;
let port: number;
let launcher: Launcher | undefined;
/** All launchers started, including those that have ended. */
const started: Launcher[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "launch-"));
  // Under root, Postgres runs as another user, who must be able to enter it.
  await chmod(directory, 0o755);
  port = await freePort();
});
afterAll(async () => {
  await Promise.all(started.map(({ end }) => end("SIGTERM")));
  await run("deploy/embedded/dist/reset.js").exited;
  await rm(directory, { recursive: true, force: true });
});

interface Launcher {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  output(): string;
  /** Ctrl-C: the terminal signals the whole process group. */
  interrupt(): void;
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Runs a script as npm does, without the build, with its data in this test's folder. */
function run(script: string, env: Record<string, string> = {}, parameters: readonly string[] = []): Launcher {
  const child = spawn(process.execPath, [script, ...parameters], {
    env: { PATH: process.env["PATH"], PORT: String(port), LOCAL_DIR: directory, LOG_LEVEL: "info", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    // A process group of its own, as a shell makes it.
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const exited = once(child, "close").then(([code]) => code as number | null);
  const end = (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    return exited;
  };
  const interrupt = (): void => void process.kill(-(child.pid ?? 0), "SIGINT");
  started.push({ child, exited, output: () => output, interrupt, end });
  return started.at(-1) as Launcher;
}

async function start(...parameters: string[]): Promise<Launcher> {
  launcher = run("deploy/embedded/dist/main.js", {}, parameters);
  const { output, exited } = launcher;
  const ended = exited.then((code) => {
    throw new Error(`ended with ${code}:\n${output()}`);
  });
  await Promise.race([ended, eventually(() => expect(output()).toContain("is running at"), { timeoutMs: START_MS_MAX })]);
  ended.catch(() => {});
  return launcher;
}

async function readProcesses(): Promise<number[]> {
  const lock = JSON.parse(await readFile(join(directory, "launcher.json"), "utf8")) as { processes: { pid: number }[] };
  return lock.processes.map(({ pid }) => pid);
}

/** Checks that run.json was written before the gateway listened: a script that waits for the port must read this run's file. */
async function expectRunFileBeforeListening(): Promise<void> {
  const writtenAt = (await stat(join(directory, "run.json"))).mtimeMs;
  // The log is up to 200 ms late, and also contains earlier runs.
  await eventually(async () => {
    const log = await readFile(join(directory, "logs/gateway.log"), "utf8");
    const lines = log.slice(0, log.lastIndexOf("\n")).split("\n");
    const ready = lines.map((line) => JSON.parse(line) as { time: string; msg: string }).findLast(({ msg }) => msg === "ready");
    expect(Date.parse(ready?.time ?? "")).toBeGreaterThan(writtenAt);
  });
}

const readRun = async () => JSON.parse(await readFile(join(directory, "run.json"), "utf8")) as RunFile;

async function get(path: string, key: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${key}` } });
}

it("starts without any data, and serves every key that it prints", async () => {
  const { output } = await start();
  await expectRunFileBeforeListening();
  const runFile = await readRun();
  for (const name of ["run.json", "demo-brands.json"]) expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600);
  expect(runFile).toMatchObject({
    base_url: `http://127.0.0.1:${port}`,
    launcher: { pid: launcher?.child.pid },
    admin: {
      gateway: expect.stringMatching(/^http:/),
      accounts: expect.stringMatching(/^http:/),
      plans: expect.stringMatching(/^http:/),
      records: expect.stringMatching(/^http:/),
      webhook: expect.stringMatching(/^http:/),
    },
  });
  expect(runFile.brands.map(({ tier }) => tier).toSorted()).toEqual(["enterprise", "plus", "pro"]);
  for (const { keys, name } of runFile.brands) {
    expect(output()).toContain(name);
    for (const key of [keys.reporting, keys.planner]) {
      expect(output()).toContain(key);
      expect((await get("/api/v1/campaigns", key)).status).toBe(200);
    }
  }
  for (const url of Object.values(runFile.admin)) {
    expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ status: "ready" });
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: "ok" });
    expect(await (await fetch(`${url}/metrics`)).text()).toContain("process_cpu_seconds_total");
  }
});

it("prints a client configuration that connects an assistant, also from pages on this machine", async () => {
  const printed = launcher?.output() ?? "";
  const [, url = "", authorization = ""] =
    /claude mcp add --transport http brand-records (\S+) \\\n\s+--header 'Authorization: (Bearer \S+)'/.exec(printed) ?? [];
  const open = (origin: string): Promise<Response> =>
    fetch(url, {
      method: "POST",
      headers: { authorization, origin, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } }),
    });
  for (const origin of ["http://localhost:6274", "http://127.0.0.1:6274", "http://[::1]:6274"]) {
    expect(await (await open(origin)).json()).toMatchObject({ result: { serverInfo: { name: "brand-records" } } });
  }
  expect((await open("https://evil.example")).status).toBe(403);
});

it("has demo data of the promised size, with nulls, skewed statuses and shared times", async () => {
  const enterprise = (await readRun()).brands.find(({ tier }) => tier === "enterprise");
  const counts: Record<string, number> = {};
  const submissions: Record<string, unknown>[] = [];
  for (const resource of DEMO_RESOURCES.filter((name) => name !== "conversions")) {
    let cursor: string | undefined;
    do {
      const query: string = cursor === undefined ? "" : `&cursor=${cursor}`;
      const page = (await (await get(`/api/v1/${resource}?limit=200${query}`, enterprise?.keys.reporting ?? "")).json()) as {
        data: Record<string, unknown>[];
        next_cursor?: string;
      };
      counts[resource] = (counts[resource] ?? 0) + page.data.length;
      if (resource === "submissions") submissions.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== undefined);
  }
  expect(counts["campaigns"]).toBeGreaterThanOrEqual(12);
  expect(submissions).toHaveLength(2_000);
  expect(submissions.filter(({ status }) => status === "pending")).toHaveLength(200);
  expect(submissions.some(({ views }) => views === null)).toBe(true);
  expect(new Set(submissions.map(({ created_at }) => created_at)).size).toBeLessThan(2_000);
});

it("refuses to start twice in one folder, on a taken port and with invalid settings, and names the setting", async () => {
  const otherFolder = await mkdtemp(join(tmpdir(), "launch-"));
  const twice = run("deploy/embedded/dist/main.js");
  const taken = run("deploy/embedded/dist/main.js", { LOCAL_DIR: otherFolder });
  const misconfigured = run("deploy/embedded/dist/main.js", { PORT: "http", DATABASE_URL: "mysql://x" });
  expect(await Promise.all([twice.exited, taken.exited, misconfigured.exited])).toEqual([1, 1, 1]);
  expect(twice.output()).toMatch(/Already running in this folder/);
  expect(taken.output()).toMatch(new RegExp(`Port ${port} is taken. Set PORT`));
  expect(misconfigured.output()).toMatch(/PORT: .*\n.*DATABASE_URL: /);
  expect(misconfigured.output()).not.toContain("    at ");
  await rm(otherFolder, { recursive: true });
});

it("restarts every process that dies", async () => {
  const key = (await readRun()).brands[0]?.keys.reporting ?? "";
  const processes = await readProcesses();
  expect(processes).toHaveLength(6);
  expect((await readRun()).cells).toEqual({});
  for (const pid of processes) process.kill(pid, "SIGKILL");
  await eventually(() => expect(launcher?.output().match(/is back/g)).toHaveLength(6), { timeoutMs: START_MS_MAX });
  await eventually(async () => expect((await get("/api/v1/links", key)).status).toBe(200));
});

it("restarts the database when it dies", async () => {
  const key = (await readRun()).brands[0]?.keys.reporting ?? "";
  const [pid] = (await readFile(join(directory, "postgres/postmaster.pid"), "utf8")).split("\n");
  process.kill(Number(pid), "SIGKILL");
  await eventually(() => expect(launcher?.output()).toContain("database is back"), { timeoutMs: START_MS_MAX });
  await eventually(async () => expect((await get("/api/v1/links", key)).status).toBe(200));
});

it("recovers the same keys and records after the launcher is killed", async () => {
  const before = await readRun();
  await launcher?.end("SIGKILL");
  const brandctl = run("brandctl/bin/brandctl.js", {}, ["brands", "list"]);
  expect(await brandctl.exited).toBe(1);
  expect(brandctl.output()).toContain("run.json is left from a run that was killed");

  await start();
  await expectRunFileBeforeListening();
  const after = await readRun();
  expect(after.launcher).not.toEqual(before.launcher);
  expect(after.rpc).not.toEqual(before.rpc);
  expect(after.brands).toEqual(before.brands);
  for (const { keys } of after.brands) expect((await get("/api/v1/links", keys.planner)).status).toBe(200);
  expect(launcher?.output()).not.toContain("Making demo data");

  const platform = openPool({ url: after.platform_database_url, applicationName: "platform" });
  try {
    const changed = await platform.query(
      `update records.submissions set status = 'approved', reviewed_at = now()
        where (brand_id, id) = (select brand_id, id from records.submissions where status = 'pending' limit 1) returning status`,
    );
    expect(changed).toEqual([{ status: "approved" }]);
    for (const forbidden of ["records.outbox", "accounts.brands", "webhook.events"]) {
      await expect(platform.query(`select from ${forbidden}`)).rejects.toMatchObject({ code: "42501" });
    }
  } finally {
    await platform.stop();
  }
});

const readPostmaster = async (): Promise<number> =>
  Number((await readFile(join(directory, "postgres/postmaster.pid"), "utf8")).split("\n")[0]);

/** Neither the file of a run nor its lock, and no server in the data directory. */
async function expectNoTraces(): Promise<void> {
  for (const name of ["run.json", "launcher.json", "postgres/postmaster.pid"]) {
    await expect(stat(join(directory, name))).rejects.toThrow("ENOENT");
  }
  await expect(fetch(`http://127.0.0.1:${port}/docs`)).rejects.toThrow("fetch failed");
}

/** Presses Ctrl-C until the launcher has exited, as an impatient person does. Returns its exit code. */
async function interruptUntilExit({ child, exited, interrupt }: Launcher): Promise<number | null> {
  await eventually(() => {
    if (child.exitCode === null) interrupt();
    expect(child.exitCode).not.toBeNull();
  });
  return exited;
}

it("stops cleanly on Ctrl-C, and leaves no process running", async () => {
  const processes = [...(await readProcesses()), await readPostmaster()];
  // Twice: the terminal sends it, and npm forwards it.
  launcher?.interrupt();
  expect(await launcher?.end("SIGINT")).toBe(0);
  expect(launcher?.output()).toContain("Stopped.");
  launcher = undefined;
  for (const pid of processes) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  await expectNoTraces();
});

it("ends everything immediately on a second Ctrl-C, even a process that does not respond", async () => {
  const impatient = await start();
  const processes = [...(await readProcesses()), await readPostmaster()];
  process.kill(processes[0] ?? 0, "SIGSTOP");
  expect(await interruptUntilExit(impatient)).toBe(130);
  launcher = undefined;
  expect(impatient.output()).toContain("Stopped immediately");
  for (const pid of processes) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  await expectNoTraces();
});

const MOMENTS = ["Starting the database", "Starting the processes", "Building the console"];

it("stops cleanly on Ctrl-C at any moment of its start", async () => {
  for (const moment of MOMENTS) {
    const interrupted = run("deploy/embedded/dist/main.js");
    await eventually(() => expect(interrupted.output()).toContain(moment), { everyMs: 1, timeoutMs: START_MS_MAX });
    interrupted.interrupt();
    expect(await interrupted.exited).toBe(0);
    expect(interrupted.output()).toContain("Stopped.");
    await expectNoTraces();
  }
});

it("rotates a process' log that has become too large, without losing its lines", async () => {
  const log = join(directory, "logs/gateway.log");
  await appendFile(log, `${JSON.stringify({ msg: "earlier", filler: "x".repeat(974) })}\n`.repeat(11_000));
  const size = (await stat(log)).size;
  await start();
  expect((await stat(`${log}.1`)).size).toBe(size);
  await eventually(async () => expect(await readFile(log, "utf8")).toMatch(/"msg":"ready"/));
  expect((await stat(log)).size).toBeLessThan(1_000_000);
  expect(await launcher?.end("SIGTERM")).toBe(0);
  launcher = undefined;
});

it("deletes everything on npm run reset", async () => {
  const reset = run("deploy/embedded/dist/reset.js");
  expect(await reset.exited).toBe(0);
  await expect(stat(directory)).rejects.toThrow("ENOENT");
});

it("runs records in a second cell with a brand of the demo, and again without the option", async () => {
  for (const parameters of [["--cells", "2"], []]) {
    await start(...parameters);
    const { brands, cells, cell_databases } = await readRun();
    expect([Object.keys(cells), Object.keys(cell_databases)]).toEqual([["b"], ["", "b"]]);
    for (const { keys } of brands) expect((await get("/api/v1/links", keys.reporting)).status).toBe(200);
    const [unnamed, b] = [cell_databases[""], cell_databases["b"]].map((url) =>
      openPool({ url: url ?? "", applicationName: "launch test", max: 1 }),
    );
    const brandsIn = "select distinct brand_id from records.links order by 1";
    expect(await b?.query(brandsIn)).toEqual([{ brand_id: brands[1]?.id }]);
    expect(await unnamed?.query(brandsIn)).toEqual([{ brand_id: brands[0]?.id }, { brand_id: brands[2]?.id }]);
    expect(await b?.query("show wal_level")).toEqual([{ wal_level: "logical" }]);
    await Promise.all([unnamed?.stop(), b?.stop()]);
    const doctor = run("brandctl/bin/brandctl.js", {}, ["doctor"]);
    expect([await doctor.exited, doctor.output()]).toEqual([0, expect.stringMatching(/records in b, gRPC .*brands of cells/s)]);
    expect(await launcher?.end("SIGTERM")).toBe(0);
    launcher = undefined;
  }
  expect(await run("deploy/embedded/dist/reset.js").exited).toBe(0);
});
