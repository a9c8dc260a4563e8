import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const COMPILED = pathToFileURL(join(import.meta.dirname, "../dist/index.js")).href;

/** Returns the lines logged by a process whose main module runs `use`, which has `log`. */
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

it("writes one JSON line per unit of work, with time, service, level and fields", async () => {
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

it("keeps credentials out of a line, and of up to two levels below it", async () => {
  const lines = await linesOf(`for (const fields of [
    { authorization: "hunter2", secret: "hunter2", key_sha256: "hunter2", cookie: "hunter2", token: "hunter2" },
    { headers: { authorization: "hunter2", cookie: "hunter2" }, key: { secret: "hunter2" }, request: { key_sha256: "hunter2", token: "hunter2" } },
    { req: { headers: { authorization: "hunter2" } }, response: { key: { secret: "hunter2" }, session: { token: "hunter2" } } },
  ]) {
    log.info(fields, "done");
    log.child(fields).info("done");
  }`);
  expect(lines).toHaveLength(6);
  for (const line of lines) expect(JSON.stringify(line)).toContain("[redacted]");
  expect(JSON.stringify(lines)).not.toContain("hunter2");
});

it("writes type, message, stack and code of an error, with those of its causes, and nothing a library attached", async () => {
  const [line] = await linesOf(
    `const attached = { command: { args: ["default", "hunter2"] }, headers: { cookie: "hunter2" } };
     const cause = Object.assign(new RangeError("WRONGPASS"), attached);
     log.warn({ err: Object.assign(new TypeError("refused", { cause }), { code: "E42", ...attached }) }, "done");`,
  );
  expect(line).toMatchObject({
    err: {
      type: "TypeError",
      message: "refused: WRONGPASS",
      code: "E42",
      stack: expect.stringMatching(/TypeError: refused\n[^]+RangeError: WRONGPASS\n/),
    },
  });
  expect(Object.keys(line?.["err"] as object)).toEqual(["type", "message", "stack", "code"]);
  expect(JSON.stringify(line)).not.toContain("hunter2");
});

it("writes the message of each error in an AggregateError", async () => {
  const [line] = await linesOf(
    `log.warn({ err: new AggregateError([new Error("::1 refused"), new Error("127.0.0.1 refused")], "both") }, "done")`,
  );
  expect(line).toMatchObject({ err: { type: "AggregateError", message: "both", errors: ["::1 refused", "127.0.0.1 refused"] } });
});

it("neither blocks nor ends a process whose disk is full, and lets it exit", async () => {
  const main = `import { openLog } from ${JSON.stringify(COMPILED)}; const log = openLog("gateway", "info");
    setInterval(() => log.info("lost"), 1);
    process.on("message", (message) => (message === "exit" ? process.exit() : process.send("served")));`;
  const full = openSync("/dev/full", "a");
  const child = spawn(process.execPath, ["--input-type=module", "--eval", main], { stdio: ["ignore", full, "inherit", "ipc"] });
  closeSync(full);
  try {
    for (let time = 0; time < 3; time += 1) {
      child.send("serve");
      expect(await once(child, "message")).toContain("served");
    }
    child.send("exit");
    expect(await once(child, "exit")).toEqual([0, null]);
  } finally {
    child.kill("SIGKILL");
  }
});
