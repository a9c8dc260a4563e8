import { mkdtemp, rm, writeFile } from "node:fs/promises";
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
  const events = { changed() {}, died: (_: string, reason: string) => void deaths.push(reason), recovered() {} };
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
