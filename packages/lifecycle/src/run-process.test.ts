import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, startProcess } from "@brand-records/testkit";

const COMPILED = join(import.meta.dirname, "../dist/index.js");

let folder: string;
const spawned: ChildProcess[] = [];

/** Starts a script in a process that is killed with the test. Returns what it writes, too. */
function spawnScript(path: string, withParent = false) {
  const child = spawn(process.execPath, [path], { stdio: ["ignore", "pipe", "pipe", ...(withParent ? (["ipc"] as const) : [])] });
  spawned.push(child);
  const written = { output: "", errors: "" };
  child.stdout?.on("data", (chunk: Buffer) => (written.output += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (written.errors += chunk.toString()));
  return { child, written };
}
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "run-process-test-"));
});
afterEach(() => {
  for (const child of spawned.splice(0)) child.kill("SIGKILL");
});
afterAll(() => rm(folder, { recursive: true }));

/** Writes the script of a process that owns a pool and a server and prints its steps. `start` and `stop` are code to insert into it. */
async function script(name: string, { start = "", stop = "", stopGraceMs = 0, timersFasterBy = 1 }): Promise<string> {
  const path = join(folder, `${name}.mjs`);
  await writeFile(
    path,
    `import { runProcess } from ${JSON.stringify(COMPILED)};
     const { setTimeout: startTimer } = globalThis;
     globalThis.setTimeout = (callback, ms, ...values) => startTimer(callback, ms / ${timersFasterBy}, ...values);
     const print = (text) => process.stdout.write(text + "\\n");
     const log = { info: (fields, message) => print(message), error: (fields, message) => print("error: " + message + " " + (fields.resource ?? fields.err.message)) };
     const alive = setInterval(() => {}, 1_000);
     await runProcess({ log, stopGraceMs: ${stopGraceMs}, async start(life) {
       life.own("pool", { stop: async () => print("pool stopped") });
       life.own("server", { stop: async () => { print("server stops"); ${stop} } });
       ${start}
       return { port: 1234 };
     } });`,
  );
  return path;
}

const run = async (name: string, inserted: Parameters<typeof script>[1] = {}) =>
  startProcess({ name, script: await script(name, inserted) });

it.each(["SIGTERM", "SIGINT"] as const)("reports readiness to its parent, stops everything on %s and exits with 0", async (signal) => {
  const child = await run(`clean-${signal}`);
  expect(child.ready).toEqual({ port: 1234 });
  expect(await child.kill(signal)).toEqual({ code: 0, signal: null });
  expect(child.output()).toBe("ready\nstopping\nserver stops\npool stopped\n");
});

it("stops everything after a grace period longer than the stop may take, and exits with 0", async () => {
  const child = await run("grace", { stopGraceMs: 30_000, timersFasterBy: 10 });
  expect(await child.kill()).toEqual({ code: 0, signal: null });
  expect(child.output()).toBe("ready\nstopping\nserver stops\npool stopped\n");
});

it("exits with 1 if a resource does not stop within 20 s", async () => {
  const child = await run("stuck", { stop: "await new Promise(() => {});", stopGraceMs: 5_000, timersFasterBy: 100 });
  expect(await child.kill()).toEqual({ code: 1, signal: null });
  expect(child.output()).toBe("ready\nstopping\nserver stops\n");
});

it("exits immediately on a second signal, however long the stop would take", async () => {
  const child = await run("hanging", { stop: "await new Promise(() => {});" });
  process.kill(child.pid, "SIGTERM");
  await eventually(() => expect(child.output()).toContain("server stops"));
  expect(await child.kill("SIGINT")).toEqual({ code: 130, signal: null });
  expect(child.output()).not.toContain("pool stopped");
});

it("stops the rest and exits with 1 if a resource fails to stop", async () => {
  const child = await run("unclean", { stop: 'throw new Error("stuck");' });
  expect(await child.kill()).toEqual({ code: 1, signal: null });
  expect(child.output()).toMatch(/error: could not stop server\npool stopped\n$/);
});

it("stops everything already started and exits with 1 if the start fails", async () => {
  const failing = run("failing", { start: 'throw new Error("no database");' });
  await expect(failing).rejects.toThrow(/\(exit code 1\).*error: could not start no database\nstopping\nserver stops\npool stopped\n/s);
});

it.each(["ConfigError", "SchemaMismatchError"])("prints a %s that the start throws, without a stack, and exits with 78", async (name) => {
  const start = `throw Object.assign(new Error("Invalid settings:\\n  KEYS: key 1 is missing"), { name: "${name}" });`;
  const { child, written } = spawnScript(await script(`refused-${name}`, { start }));
  expect(await once(child, "close")).toEqual([78, null]);
  expect(written).toEqual({
    output: "stopping\nserver stops\npool stopped\n",
    errors: "Invalid settings:\n  KEYS: key 1 is missing\n",
  });
});

it("stops everything already started and exits with 0 on a signal during the start", async () => {
  const path = await script("starting", { start: 'print("starting"); await new Promise(() => {});' });
  const { child, written } = spawnScript(path);
  await eventually(() => expect(written.output).toBe("starting\n"));
  const exit = once(child, "close");
  child.kill("SIGTERM");
  expect(await exit).toEqual([0, null]);
  expect(written.output).toBe("starting\nstopping\nserver stops\npool stopped\n");
});

it("stops without the grace period when its parent is gone", async () => {
  const { child, written } = spawnScript(await script("orphan", { stopGraceMs: 60_000 }), true);
  // Node does not emit "close" for a child from which it has disconnected.
  const exit = once(child, "exit");
  await once(child, "message");
  child.disconnect();
  expect(await exit).toEqual([0, null]);
  await eventually(() => expect(written.output).toContain("pool stopped"));
});

it("stops everything and exits with 1 on an unhandled rejection", async () => {
  const child = await run("rejecting", { start: 'process.on("SIGUSR2", () => void Promise.reject(new Error("forgotten")));' });
  expect(await child.kill("SIGUSR2")).toEqual({ code: 1, signal: null });
  expect(child.output()).toMatch(/error: unhandled rejection forgotten\nstopping\nserver stops\npool stopped\n$/);
});
