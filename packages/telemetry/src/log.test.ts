import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const COMPILED = pathToFileURL(join(import.meta.dirname, "../dist/index.js")).href;

/** Lines that a process writes whose main does that with `log`. */
async function linesOf(use: string, level = "debug"): Promise<Record<string, unknown>[]> {
  const main = `import { openLog } from ${JSON.stringify(COMPILED)}; const log = openLog("gateway", ${JSON.stringify(level)}); ${use}`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", main], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  expect(await once(child, "close")).toEqual([0, null]);
  return output
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

it("writes one line of JSON for one unit of work: when, which service, how bad and what", async () => {
  const [line, ...more] = await linesOf('log.info({ request_id: "r1", duration_ms: 1.5 }, "request served")');
  expect(line).toEqual({
    level: "info",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    service: "gateway",
    request_id: "r1",
    duration_ms: 1.5,
    msg: "request served",
  });
  expect(more).toEqual([]);
});

it("writes nothing below its level", async () => {
  expect(await linesOf('log.info("no"); log.warn("yes")', "warn")).toMatchObject([{ msg: "yes" }]);
});

it.each([
  ["in the line itself", `{ authorization: "hunter2", secret: "hunter2", key_sha256: "hunter2" }`],
  ["in what the line holds", `{ headers: { authorization: "hunter2" }, key: { secret: "hunter2" }, request: { key_sha256: "hunter2" } }`],
  ["deeper", `{ req: { headers: { authorization: "hunter2" } }, answer: { key: { secret: "hunter2" } } }`],
  ["in an error", `{ err: Object.assign(new Error("refused"), { secret: "hunter2", headers: { authorization: "hunter2" } }) }`],
])("keeps credentials out, %s", async (_, fields) => {
  const lines = await linesOf(`log.info(${fields}, "done"); log.child(${fields}).info("done")`);
  expect(lines).toHaveLength(2);
  expect(JSON.stringify(lines)).toContain("[redacted]");
  expect(JSON.stringify(lines)).not.toContain("hunter2");
});
