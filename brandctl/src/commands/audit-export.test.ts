import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, open, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "@brand-records/errors";
import type { AuditEntry } from "@brand-records/proto/accounts/v1";
import { FakeAudit } from "../../test/fake-audit.ts";
import { proxyTo, serve, type Served } from "../../test/serve.ts";
import { brandctl, Recorder, type Outcome, type Surroundings } from "../../test/test-terminal.ts";

/** One promise: however often it is interrupted and repeated, the file has the audit log once, in order. */

let audit: FakeAudit;
let served: Served;
let folder: string;
let file: string;
beforeEach(async () => {
  audit = new FakeAudit();
  served = await serve(...audit.served);
  folder = await mkdtemp(join(tmpdir(), "audit-export-"));
  file = join(folder, "audit.ndjson");
});
afterEach(async () => {
  await served.stop();
  await rm(folder, { recursive: true });
});

const run = (args: string[] = ["--out", file], surroundings: Surroundings = {}): Promise<Outcome> =>
  brandctl(["audit", "export", ...args], { env: { ACCOUNTS_ADDRESS: served.address }, ...surroundings });
const entryOf = (id: string, more: Partial<AuditEntry> = {}): AuditEntry => ({
  id: `aud_${id}`,
  brand_id: "brd_1",
  action: "key.revoke",
  subject_id: "key_1",
  fields: [],
  request_id: "req_1",
  created_at: "2026-11-21T08:30:00.000Z",
  tries: 1,
  ...more,
});
const at = (second: number): string => `2026-11-21T08:30:${String(second).padStart(2, "0")}.000Z`;
/** Entries a, b, c, …: the second and third have the same time. */
const addFive = (): void => {
  const times = [0, 1, 1, 2, 3];
  for (const [index, second] of times.entries()) audit.entries.push(entryOf("abcde"[index] ?? "", { created_at: at(second) }));
};
const idsIn = (text: string): string[] =>
  text
    .trimEnd()
    .split("\n")
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as AuditEntry).id.slice(4));
const content = (): Promise<string> => readFile(file, "utf8");

it("writes a line for each entry, with every field of the proto in its order", async () => {
  audit.entries.push(
    entryOf("a", {
      actor: "ana@ulap.example",
      address: "203.0.113.7",
      outcome: "done",
      finished_at: at(1),
      via: "zoe@ulap.example",
      role: "owner",
    }),
  );
  const { code, stdout, stderr } = await run([]);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: `Exported 1 entry, changed from ${at(1)}. Complete until 2026-11-22T00:00:00.000Z.\n`,
  });
  expect(stdout).toBe(
    `{"id":"aud_a","brand_id":"brd_1","actor":"ana@ulap.example","action":"key.revoke","subject_id":"key_1","fields":[],"request_id":"req_1",` +
      `"address":"203.0.113.7","created_at":"2026-11-21T08:30:00.000Z","outcome":"done","error_kind":null,"finished_at":"2026-11-21T08:30:01.000Z",` +
      `"via":"zoe@ulap.example","browser":null,"role":"owner","tries":1}\n`,
  );
});

it("has the fields of the proto", async () => {
  const proto = await readFile("proto/accounts/v1/accounts.proto", "utf8");
  const [, message = ""] = /^message AuditEntry \{(.*?)^\}/ms.exec(proto) ?? [];
  audit.entries.push(entryOf("a"));
  expect(Object.keys(JSON.parse((await run([])).stdout) as object)).toEqual(
    [...message.matchAll(/ (\w+) = \d+;/g)].map(([, name]) => name),
  );
});

it("exports everything, or from a time on, in ascending order, over all pages", async () => {
  addFive();
  expect(idsIn((await run([])).stdout)).toEqual(["a", "b", "c", "d", "e"]);
  expect(idsIn((await run(["--since", "2026-11-21T16:30:01+08:00"])).stdout)).toEqual(["b", "c", "d", "e"]);
  expect(audit.exportRequests.at(-1)?.since).toBe(at(1));
});

it("makes a file for its owner alone, and continues it with the same command", async () => {
  addFive();
  audit.settledUntil = at(1);
  expect(await run()).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining(`Exported 1 entry into ${file}`) });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  audit.settledUntil = at(3);
  await run();
  expect(idsIn(await content())).toEqual(["a", "b", "c", "d"]);
  expect(await run()).toMatchObject({ code: 0, stderr: expect.stringContaining(`Exported 0 entries into ${file}. Complete until`) });
  expect(idsIn(await content())).toEqual(["a", "b", "c", "d"]);
});

it("has an entry again when it got its outcome", async () => {
  audit.entries.push(entryOf("a"), entryOf("b", { created_at: at(1) }));
  await run();
  Object.assign(audit.entries[0] ?? {}, { outcome: "done", finished_at: at(2) });
  await run();
  expect(idsIn(await content())).toEqual(["a", "b", "a"]);
});

it("has what is written during the export", async () => {
  addFive();
  audit.beforeExportPage = () => {
    if (audit.exportRequests.length === 2) audit.entries.unshift(entryOf("z", { created_at: at(4) }));
  };
  await run();
  expect(idsIn(await content())).toEqual(["a", "b", "c", "d", "e", "z"]);
});

it("is the same after a kill at any byte", async () => {
  addFive();
  await run();
  const whole = await readFile(file);
  for (let bytes = 0; bytes < whole.length; bytes += 7) {
    await writeFile(file, whole.subarray(0, bytes));
    expect((await run()).code).toBe(0);
    expect((await readFile(file)).equals(whole)).toBe(true);
  }
});

it("is the same after a loss of power that left zeros", async () => {
  addFive();
  await run();
  const whole = await readFile(file);
  await writeFile(file, Buffer.concat([whole.subarray(0, 700), Buffer.alloc(100)]));
  await run();
  expect((await readFile(file)).equals(whole)).toBe(true);
});

it("is the same after the service went away in the middle, and says so", async () => {
  addFive();
  await run();
  const whole = await content();
  await rm(file);
  const proxy = await proxyTo(served.address);
  audit.exportRequests.splice(0);
  audit.beforeExportPage = () => {
    if (audit.exportRequests.length === 2) proxy.cut();
  };
  const broken = await run(undefined, { env: { ACCOUNTS_ADDRESS: proxy.address } });
  expect(broken).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("2 entries were added to the file. The same command goes on after them."),
  });
  expect(broken.stderr).toContain("accounts cannot be reached at");
  expect(whole.startsWith(await content())).toBe(true);
  expect(await run()).toMatchObject({ code: 0, stderr: expect.stringContaining("Exported 3 entries") });
  expect(await content()).toBe(whole);
});

it("is the same after an error of the service", async () => {
  addFive();
  audit.beforeExportPage = () => {
    if (audit.exportRequests.length === 2) throw new AppError("internal_error", "Something broke");
  };
  expect(await run()).toMatchObject({ code: 1, stderr: expect.stringMatching(/Something broke.* 2 entries were added/) });
  await run();
  expect(idsIn(await content())).toEqual(["a", "b", "c", "d", "e"]);
});

it("stops at Ctrl-C with 130 and a file to continue", async () => {
  addFive();
  const interrupting = new AbortController();
  audit.beforeExportPage = () => {
    if (audit.exportRequests.length === 2) interrupting.abort();
  };
  expect(await run(undefined, { interrupted: interrupting.signal, env: { ACCOUNTS_ADDRESS: served.address } })).toMatchObject({
    code: 130,
    stderr: expect.stringContaining("Interrupted. 2 entries were added to the file. The same command goes on after them."),
  });
  expect(idsIn(await content())).toEqual(["a", "b"]);
  await run();
  expect(idsIn(await content())).toEqual(["a", "b", "c", "d", "e"]);
});

it("stops at Ctrl-C while nobody reads its output", async () => {
  addFive();
  const interrupting = new AbortController();
  class Stuck extends Recorder {
    override _write(): void {
      interrupting.abort();
    }
  }
  expect(
    await run([], { interrupted: interrupting.signal, stdout: new Stuck(false), env: { ACCOUNTS_ADDRESS: served.address } }),
  ).toMatchObject({
    code: 130,
    stderr: expect.stringContaining("Interrupted. 0 entries were written."),
  });
});

it("ends when its reader has enough", async () => {
  addFive();
  class Closed extends Recorder {
    override _write(_chunk: string | Buffer, _encoding: string, done: (error?: Error) => void): void {
      done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    }
  }
  const stdout = new Closed(false);
  stdout.on("error", () => undefined);
  expect((await run([], { stdout })).code).toBe(0);
  expect(audit.exportRequests).toHaveLength(1);
});

it("keeps one page in memory: each is in the file before the next is read", async () => {
  audit.exportPageSize = 1_000;
  for (let i = 0; i < 20_000; i += 1) audit.entries.push(entryOf(String(i).padStart(6, "0")));
  const sizes: number[] = [];
  audit.beforeExportPage = async () => void sizes.push((await stat(file)).size);
  await run();
  const { length } = await content();
  expect(sizes).toEqual(sizes.map((_, page) => (length / 20) * page));
  expect(sizes).toHaveLength(20);
});

it("refuses a second export into the file meanwhile, and not afterwards", async () => {
  addFive();
  let second: Outcome | undefined;
  audit.beforeExportPage = async () => {
    second ??= await run();
  };
  expect((await run()).code).toBe(0);
  expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining(`Another export writes into ${file}. Nothing was exported.`) });
  await symlink(file, join(folder, "other.ndjson"));
  second = undefined;
  audit.beforeExportPage = async () => {
    second ??= await run(["--out", join(folder, "other.ndjson")]);
  };
  await run();
  expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining("Another export writes into") });
  expect(idsIn(await content())).toEqual(["a", "b", "c", "d", "e"]);
});

it("is not held up by an export that was killed", async () => {
  addFive();
  const hold = `const lock = new (require("node:sqlite").DatabaseSync)(process.argv[1]); lock.exec("begin exclusive"); console.log("locked"); setInterval(() => {}, 1e9)`;
  const other = spawn(process.execPath, ["--eval", hold, `${file}.lock`], { stdio: ["ignore", "pipe", "inherit"] });
  await once(other.stdout, "data");
  expect((await run()).stderr).toContain("Another export writes into");
  other.kill("SIGKILL");
  await once(other, "exit");
  expect((await run()).code).toBe(0);
});

const LINE = `{"id":"aud_x","brand_id":"brd_1","action":"key.revoke","created_at":"2026-11-21T08:30:00.000Z","finished_at":null}\n`;

it.each([
  ["a text", "Shopping list\n", "line 1 is no entry"],
  ["a text without an end of a line", "Shopping list", "it ends with what is no beginning of an entry"],
  ["JSON of something else", '{"id":"sub_1"}\n', "line 1 is no entry"],
  ["an entry without a time", '{"id":"aud_x","brand_id":"brd_1","action":"key.revoke"}\n', "line 1 is no entry"],
  ["an export with a damaged line", `${LINE}{"id":"aud_y\n`, "line 2 is no entry"],
  ["an export twice", `${LINE}${LINE}`, "line 2 is not after the line before it"],
  ["an export and something else", `${LINE}the end`, "it ends with what is no beginning of an entry"],
  ["a blank line", "\n", "line 1 is no entry"],
  ["one very long line", `{"id":"aud_${"x".repeat(70_000)}`, "line 1 is longer than an entry"],
])("refuses %s, and leaves it as it is", async (_, text, reason) => {
  addFive();
  await writeFile(file, text);
  expect(await run()).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining(`is no export of the audit log: ${reason}. It was left as it is.`),
  });
  expect(await content()).toBe(text);
  expect(audit.exportRequests).toEqual([]);
});

it("continues an export of a release with other fields", async () => {
  addFive();
  await writeFile(file, LINE);
  expect((await run()).code).toBe(0);
  expect(idsIn(await content())).toEqual(["x", "b", "c", "d", "e"]);
});

it("refuses a file that is ahead of the database's clock", async () => {
  addFive();
  await run();
  audit.settledUntil = at(2);
  expect(await run()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`The file ends with an entry of ${at(3)}, and accounts has entries up to ${at(2)} only`),
  });
});

it("says why a file cannot be written", async () => {
  const missing = join(folder, "missing", "audit.ndjson");
  expect(await run(["--out", missing])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${missing} cannot be written: its folder does not exist.`),
  });
  expect((await run(["--out", folder])).stderr).toContain("is no export of the audit log: it is no file.");
  expect((await run(["--out", join(file, "audit.ndjson")])).stderr).toContain("its folder does not exist");
  expect((await run(["--out", ""])).code).toBe(2);
});

it("says that a folder cannot be written", async () => {
  // Not even the superuser makes files there.
  const outcome = await run(["--out", "/sys/audit.ndjson"]);
  expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining("/sys/audit.ndjson cannot be written: ") });
});

it("keeps complete lines if the disk is full", async () => {
  addFive();
  await run();
  const whole = await content();
  await rm(file);
  const handle = await open(folder, "r");
  const prototype = Object.getPrototypeOf(handle) as { write(buffer: Buffer, ...place: number[]): Promise<unknown> };
  await handle.close();
  const { write } = prototype;
  let pages = 0;
  prototype.write = async function (buffer, offset = 0, length = 0, position = 0) {
    pages += 1;
    const isFull = pages === 2;
    const written = await write.call(this, buffer, offset, isFull ? 10 : length, position);
    if (isFull) throw Object.assign(new Error("write"), { code: "ENOSPC" });
    return written;
  };
  try {
    const expected = `${file} cannot be written: the disk is full. 2 entries were added to the file. The same command goes on after them.`;
    expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining(expected) });
  } finally {
    prototype.write = write;
  }
  expect(await content()).toBe(
    whole
      .split(/(?<=\n)/)
      .slice(0, 2)
      .join(""),
  );
  await run();
  expect(await content()).toBe(whole);
});

it("prints the summary as JSON with --json, and lines alone to standard output", async () => {
  addFive();
  expect((await run(["--json", "--out", file])).json()).toEqual({
    export: { entries: 5, from: at(0), until: "2026-11-22T00:00:00.000Z", file },
  });
  expect(await run(["--json"])).toMatchObject({ code: 0, stdout: await content(), stderr: "" });
  await writeFile(file, "x");
  expect(JSON.parse((await run(["--json", "--out", file])).stderr)).toMatchObject({ error: { code: "not_an_export" } });
});

it("shows the progress on a terminal", async () => {
  addFive();
  const { stderr } = await run(undefined, { isTerminal: true });
  expect(stderr).toContain("audit log");
  expect(stderr).toContain("Exported 5 entries");
});

it("is wrong usage with a time that is none", async () => {
  expect((await run(["--since", "yesterday"])).code).toBe(2);
});
