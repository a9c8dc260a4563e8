import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { appendFile, mkdir, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { freePort } from "@brand-records/postgres/embedded";
import { eventually, makeOwnedFolder } from "@brand-records/testkit";
import { ensureBackingServices } from "../setup/ensure-backing-services.ts";

/** One promise: `npm run observe` shows the system of this folder, and leaves nothing behind. */

let folder = "";
const servers: Server[] = [];

beforeAll(async () => {
  await ensureBackingServices("prometheus", "alertmanager");
  folder = await makeOwnedFolder("brand-records-observe-");
});

afterAll(async () => {
  for (const server of servers) server.close();
  await rm(folder, { recursive: true, force: true });
});

interface Observing {
  readonly urls: { readonly prometheus: string; readonly alertmanager: string };
  readonly exited: Promise<number | null>;
  output(): string;
  end(signal: NodeJS.Signals): Promise<number | null>;
}

async function observe(env: Readonly<Record<string, string>> = {}): Promise<Observing> {
  const [prometheus, alertmanager] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, ["deploy/embedded/dist/observe/main.js"], {
    env: { PATH: process.env["PATH"], LOCAL_DIR: folder, PROMETHEUS_PORT: `${prometheus}`, ALERTMANAGER_PORT: `${alertmanager}`, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const exited = once(child, "close").then(([code]) => code as number | null);
  return {
    urls: { prometheus: `http://127.0.0.1:${prometheus}`, alertmanager: `http://127.0.0.1:${alertmanager}` },
    exited,
    output: () => output,
    end(signal) {
      child.kill(signal);
      return exited;
    },
  };
}

/** Stands for a run of `npm start` with one process, at a new port. */
async function startRun(age: number): Promise<string> {
  const server = createServer((_, response) => response.end(`outbox_oldest_seconds{service="records"} ${age}\n`));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  await writeFile(join(folder, "run.json"), JSON.stringify({ admin: { records: `http://${host}` } }));
  return host;
}

async function get(url: string): Promise<{ readonly data: Record<string, unknown> }> {
  return (await (await fetch(url)).json()) as { data: Record<string, unknown> };
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

it("follows the system through restarts, judges its alerts, and stops with Ctrl-C", async () => {
  const observing = await observe();
  const { prometheus, alertmanager } = observing.urls;
  const host = (): Promise<unknown> =>
    get(`${prometheus}/api/v1/query?query=${encodeURIComponent('outbox_oldest_seconds{job="brand-records",service="records"}')}`).then(
      ({ data }) => (data["result"] as readonly { metric: { instance: string } }[]).map(({ metric }) => metric.instance),
    );
  try {
    await eventually(() => expect(observing.output()).toContain(prometheus), { timeoutMs: 30_000 });
    expect(observing.output()).toContain("npm start is not running here");
    expect((await fetch(`${alertmanager}/-/ready`)).status).toBe(200);
    expect((await fetch(prometheus)).status).toBe(200);

    const first = await startRun(3);
    await eventually(async () => expect(await host()).toEqual([first]), { timeoutMs: 60_000 });
    const second = await startRun(4);
    await eventually(async () => expect(await host()).toEqual([second]), { timeoutMs: 90_000 });

    const { data } = await get(`${prometheus}/api/v1/rules`);
    const groups = data["groups"] as readonly { readonly rules: readonly { readonly health: string; readonly lastError?: string }[] }[];
    expect(groups.flatMap(({ rules }) => rules).filter(({ lastError = "" }) => lastError !== "")).toEqual([]);

    const again = await observe();
    expect(await again.exited).toBe(1);
    expect(again.output()).toContain("Already running in this folder");
  } finally {
    const { processes } = JSON.parse(readFileSync(join(folder, "observe/observe.json"), "utf8")) as {
      processes: readonly { pid: number }[];
    };
    expect(await observing.end("SIGINT")).toBe(0);
    expect(processes).toHaveLength(2);
    expect(processes.filter(({ pid }) => isRunning(pid))).toEqual([]);
  }
}, 300_000);

it("bounds the logs, and ends with what it started if Prometheus ends", async () => {
  const observing = await observe();
  await eventually(() => expect(observing.output()).toContain("Runbooks"), { timeoutMs: 30_000 });
  const log = join(folder, "logs/prometheus.log");
  await appendFile(log, `${"x".repeat(1_023)}\n`.repeat(11 * 1_024));
  await eventually(async () =>
    expect([(await stat(log)).size < 100_000, (await stat(`${log}.1`)).size > 10_000_000]).toEqual([true, true]),
  );
  const { processes } = JSON.parse(readFileSync(join(folder, "observe/observe.json"), "utf8")) as { processes: readonly { pid: number }[] };
  process.kill(processes.at(-1)?.pid ?? 0, "SIGKILL");
  expect(await observing.exited).toBe(1);
  expect(observing.output()).toContain("prometheus ended unexpectedly");
  expect(processes.filter(({ pid }) => isRunning(pid))).toEqual([]);
});

it("names what is missing and how to get it, installs nothing, and fails", async () => {
  const empty = join(folder, "empty");
  await mkdir(empty);
  const observing = await observe({ PATH: empty });
  expect(await observing.exited).toBe(1);
  expect(observing.output()).toContain("Missing: prometheus and alertmanager.");
  expect(observing.output()).toContain("apt-get install");
});

it("names the setting of a port that is taken", async () => {
  const host = await startRun(0);
  const port = host.slice(host.indexOf(":") + 1);
  const observing = await observe({ PROMETHEUS_PORT: port });
  expect(await observing.exited).toBe(1);
  expect(observing.output()).toContain(`PROMETHEUS_PORT=${Number(port) + 1} npm run observe`);
});
