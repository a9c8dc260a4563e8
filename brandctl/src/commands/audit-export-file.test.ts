import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "@brand-records/errors";
import { at, entryOf, idsIn, serveAuditExport, type AuditExport } from "../../test/audit-export.ts";
import { proxyTo } from "../../test/serve.ts";
import type { Outcome } from "../../test/test-terminal.ts";

/** One promise: however often it is interrupted and repeated, the file has the audit log once, in order. */

let exporting: AuditExport;
beforeEach(async () => {
  exporting = await serveAuditExport();
});
afterEach(() => exporting.stop());

it("makes a file for its owner alone, and continues it with the same command", async () => {
  exporting.addFive();
  exporting.audit.settledUntil = at(1);
  expect(await exporting.run()).toMatchObject({
    code: 0,
    stdout: "",
    stderr: expect.stringContaining(`Exported 1 entry into ${exporting.file}`),
  });
  expect((await stat(exporting.file)).mode & 0o777).toBe(0o600);
  exporting.audit.settledUntil = at(3);
  await exporting.run();
  expect(idsIn(await exporting.content())).toEqual(["a", "b", "c", "d"]);
  expect(await exporting.run()).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`Exported 0 entries into ${exporting.file}. Complete until`),
  });
  expect(idsIn(await exporting.content())).toEqual(["a", "b", "c", "d"]);
});

it("has an entry again when it got its outcome", async () => {
  exporting.audit.entries.push(entryOf("a"), entryOf("b", { created_at: at(1) }));
  await exporting.run();
  Object.assign(exporting.audit.entries[0] ?? {}, { outcome: "done", finished_at: at(2) });
  await exporting.run();
  expect(idsIn(await exporting.content())).toEqual(["a", "b", "a"]);
});

it("has what is written during the export", async () => {
  exporting.addFive();
  exporting.audit.beforeExportPage = () => {
    if (exporting.audit.exportRequests.length === 2) exporting.audit.entries.unshift(entryOf("z", { created_at: at(4) }));
  };
  await exporting.run();
  expect(idsIn(await exporting.content())).toEqual(["a", "b", "c", "d", "e", "z"]);
});

it("is the same after a kill at any byte", async () => {
  exporting.addFive();
  await exporting.run();
  const whole = await readFile(exporting.file);
  for (let bytes = 0; bytes < whole.length; bytes += 7) {
    await writeFile(exporting.file, whole.subarray(0, bytes));
    expect((await exporting.run()).code).toBe(0);
    expect((await readFile(exporting.file)).equals(whole)).toBe(true);
  }
});

// More than what is read at once, and what one write has.
it.each([100, 300_000, 1_200_000])("is the same after a loss of power that left %i zeros", async (zeros) => {
  exporting.addFive();
  await exporting.run();
  const whole = await readFile(exporting.file);
  await writeFile(exporting.file, Buffer.concat([whole.subarray(0, 700), Buffer.alloc(zeros)]));
  expect((await exporting.run()).code).toBe(0);
  expect((await readFile(exporting.file)).equals(whole)).toBe(true);
});

it("refuses a file that goes on after zeros", async () => {
  exporting.addFive();
  await exporting.run();
  const whole = await readFile(exporting.file);
  await writeFile(exporting.file, Buffer.concat([whole.subarray(0, 700), Buffer.alloc(600_000), whole.subarray(700)]));
  const { code, stderr } = await exporting.run();
  expect([code, stderr]).toEqual([1, expect.stringContaining("holds zeros")]);
});

it("is the same after the service went away in the middle, and says so", async () => {
  exporting.addFive();
  await exporting.run();
  const whole = await exporting.content();
  await rm(exporting.file);
  const proxy = await proxyTo(exporting.address);
  exporting.audit.exportRequests.splice(0);
  exporting.audit.beforeExportPage = () => {
    if (exporting.audit.exportRequests.length === 2) proxy.cut();
  };
  const broken = await exporting.run(undefined, { env: { ACCOUNTS_ADDRESS: proxy.address } });
  expect(broken).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("2 entries were added to the file. The same command goes on after them."),
  });
  expect(broken.stderr).toContain("accounts cannot be reached at");
  expect(whole.startsWith(await exporting.content())).toBe(true);
  expect(await exporting.run()).toMatchObject({ code: 0, stderr: expect.stringContaining("Exported 3 entries") });
  expect(await exporting.content()).toBe(whole);
});

it("is the same after an error of the service", async () => {
  exporting.addFive();
  exporting.audit.beforeExportPage = () => {
    if (exporting.audit.exportRequests.length === 2) throw new AppError("internal_error", "Something broke");
  };
  expect(await exporting.run()).toMatchObject({ code: 1, stderr: expect.stringMatching(/Something broke.* 2 entries were added/) });
  await exporting.run();
  expect(idsIn(await exporting.content())).toEqual(["a", "b", "c", "d", "e"]);
});

it("stops at Ctrl-C with 130 and a file to continue", async () => {
  exporting.addFive();
  const interrupting = new AbortController();
  exporting.audit.beforeExportPage = () => {
    if (exporting.audit.exportRequests.length === 2) interrupting.abort();
  };
  expect(await exporting.run(undefined, { interrupted: interrupting.signal, env: { ACCOUNTS_ADDRESS: exporting.address } })).toMatchObject({
    code: 130,
    stderr: expect.stringContaining("Interrupted. 2 entries were added to the file. The same command goes on after them."),
  });
  expect(idsIn(await exporting.content())).toEqual(["a", "b"]);
  await exporting.run();
  expect(idsIn(await exporting.content())).toEqual(["a", "b", "c", "d", "e"]);
});

it("keeps one page in memory: each is in the file before the next is read", async () => {
  exporting.audit.exportPageSize = 1_000;
  for (let i = 0; i < 20_000; i += 1) exporting.audit.entries.push(entryOf(String(i).padStart(6, "0")));
  const sizes: number[] = [];
  exporting.audit.beforeExportPage = async () => void sizes.push((await stat(exporting.file)).size);
  await exporting.run();
  const { length } = await exporting.content();
  expect(sizes).toEqual(sizes.map((_, page) => (length / 20) * page));
  expect(sizes).toHaveLength(20);
});

it("refuses a second export into the file meanwhile, and not afterwards", async () => {
  exporting.addFive();
  let second: Outcome | undefined;
  exporting.audit.beforeExportPage = async () => {
    second ??= await exporting.run();
  };
  expect((await exporting.run()).code).toBe(0);
  expect(second).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Another export writes into ${exporting.file}. Nothing was exported.`),
  });
  await symlink(exporting.file, join(exporting.folder, "other.ndjson"));
  second = undefined;
  exporting.audit.beforeExportPage = async () => {
    second ??= await exporting.run(["--out", join(exporting.folder, "other.ndjson")]);
  };
  await exporting.run();
  expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining("Another export writes into") });
  expect(idsIn(await exporting.content())).toEqual(["a", "b", "c", "d", "e"]);
});

it("is not held up by an export that was killed", async () => {
  exporting.addFive();
  const hold = `const lock = new (require("node:sqlite").DatabaseSync)(process.argv[1]); lock.exec("begin exclusive"); console.log("locked"); setInterval(() => {}, 1e9)`;
  const other = spawn(process.execPath, ["--eval", hold, `${exporting.file}.lock`], { stdio: ["ignore", "pipe", "inherit"] });
  await once(other.stdout, "data");
  expect((await exporting.run()).stderr).toContain("Another export writes into");
  other.kill("SIGKILL");
  await once(other, "exit");
  expect((await exporting.run()).code).toBe(0);
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
  exporting.addFive();
  await writeFile(exporting.file, text);
  expect(await exporting.run()).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining(`is no export of the audit log: ${reason}. It was left as it is.`),
  });
  expect(await exporting.content()).toBe(text);
  expect(exporting.audit.exportRequests).toEqual([]);
});

it("continues an export of a release with other fields", async () => {
  exporting.addFive();
  await writeFile(exporting.file, LINE);
  expect((await exporting.run()).code).toBe(0);
  expect(idsIn(await exporting.content())).toEqual(["x", "b", "c", "d", "e"]);
});

it("refuses a file that is ahead of the database's clock", async () => {
  exporting.addFive();
  await exporting.run();
  exporting.audit.settledUntil = at(2);
  expect(await exporting.run()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`The file ends with an entry of ${at(3)}, and accounts has entries up to ${at(2)} only`),
  });
});

it("says why a file cannot be written", async () => {
  const missing = join(exporting.folder, "missing", "audit.ndjson");
  expect(await exporting.run(["--out", missing])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${missing} cannot be written: its folder does not exist.`),
  });
  expect((await exporting.run(["--out", exporting.folder])).stderr).toContain("is no export of the audit log: it is no file.");
  expect((await exporting.run(["--out", join(exporting.file, "audit.ndjson")])).stderr).toContain("its folder does not exist");
  expect((await exporting.run(["--out", ""])).code).toBe(2);
});

it("says that a folder cannot be written", async () => {
  // The superuser makes no files there, either.
  const outcome = await exporting.run(["--out", "/sys/audit.ndjson"]);
  expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining("/sys/audit.ndjson cannot be written: ") });
});

it("keeps complete lines if the disk is full", async () => {
  exporting.addFive();
  await exporting.run();
  const whole = await exporting.content();
  await rm(exporting.file);
  const handle = await open(exporting.folder, "r");
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
    const expected = `${exporting.file} cannot be written: the disk is full. 2 entries were added to the file. The same command goes on after them.`;
    expect(await exporting.run()).toMatchObject({ code: 1, stderr: expect.stringContaining(expected) });
  } finally {
    prototype.write = write;
  }
  expect(await exporting.content()).toBe(
    whole
      .split(/(?<=\n)/)
      .slice(0, 2)
      .join(""),
  );
  await exporting.run();
  expect(await exporting.content()).toBe(whole);
});
