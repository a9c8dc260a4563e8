import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Supervisor } from "./supervisor.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "supervisor-test-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

/** Starts a program whose log file has output of an earlier run. Returns the error, and the deaths that were reported. */
async function startFailing(source: string): Promise<{ message: string; deaths: string[] }> {
  const script = join(folder, "program.mjs");
  const logFile = join(folder, "program.log");
  await writeFile(script, source);
  await writeFile(logFile, "output of an earlier run\n");
  const deaths: string[] = [];
  const events = { changed() {}, died: (_: string, reason: string) => void deaths.push(reason), recovered() {}, unlogged() {} };
  const supervisor = new Supervisor({ name: "shop", script, env: {}, logFile }, events);
  const error = await supervisor.start().then(
    () => new Error("it started"),
    (reason: unknown) => reason as Error,
  );
  return { message: error.message, deaths };
}

it("shows why a process refuses to start, without its log lines, and does not start it again", async () => {
  const refusing = `console.log('{"level":"info"}'); console.error("The database is of an incompatible release."); process.exitCode = 78;`;
  const { message, deaths } = await startFailing(refusing);
  expect(message).toBe("shop did not start. The database is of an incompatible release.");
  expect(deaths).toEqual([]);
});

it("shows the output of a process that fails to start, and none of earlier runs", async () => {
  const { message, deaths } = await startFailing(`console.error("no memory"); process.exitCode = 1;`);
  expect(message).toBe("shop did not start: Error: exit code 1\nno memory");
  expect(deaths).toEqual([]);
});

it("shows the output of a failed start when the log has been rotated before", async () => {
  const script = join(folder, "program.mjs");
  const logFile = join(folder, "program.log");
  await writeFile(script, `console.error("no memory"); process.exitCode = 1;`);
  await writeFile(logFile, "output of an earlier run\n".repeat(500_000));
  const supervisor = new Supervisor({ name: "shop", script, env: {}, logFile }, { changed() {}, died() {}, recovered() {}, unlogged() {} });
  await expect(supervisor.start()).rejects.toThrow("shop did not start: Error: exit code 1\nno memory");
  expect(await readFile(logFile, "utf8")).toBe("no memory\n");
  expect((await stat(`${logFile}.1`)).size).toBe(500_000 * "output of an earlier run\n".length);
});

it("runs a process whose log cannot be opened, and reports it", async () => {
  const script = join(folder, "program.mjs");
  await writeFile(script, `console.log("lost"); process.send({ ready: {} }); process.on("disconnect", () => {});`);
  const unlogged: unknown[] = [];
  // A folder in the place of the file.
  const events = { changed() {}, died() {}, recovered() {}, unlogged: (_: string, error: unknown) => void unlogged.push(error) };
  const supervisor = new Supervisor({ name: "shop", script, env: {}, logFile: folder }, events);
  await supervisor.start();
  expect(unlogged).toEqual([expect.objectContaining({ code: "EISDIR" })]);
  supervisor.kill();
  await supervisor.stop();
  expect(supervisor.pid).toBeUndefined();
});

it("stops after a program of others that cannot be spawned, and says why", async () => {
  const unexecutable = join(folder, "prometheus");
  await writeFile(unexecutable, "");
  const tool = {
    name: "prometheus",
    command: unexecutable,
    args: [],
    readyUrl: "http://127.0.0.1:1",
    logFile: join(folder, "prometheus.log"),
  };
  const supervisor = new Supervisor(tool, { changed() {}, died() {}, recovered() {}, unlogged() {} });
  await expect(supervisor.start()).rejects.toThrow(`prometheus did not start: Error: spawn ${unexecutable} EACCES`);
  await supervisor.stop();
  expect(supervisor.pid).toBeUndefined();
});
